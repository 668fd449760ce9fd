;; Many pairs of fibers play ping-pong at the same time.

(define-module (pairs)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (serve in out rounds)
  (let next ((i 0))
    (when (< i rounds)
      (put-message out (1+ (get-message in)))
      (next (1+ i)))))

(define (drive out in rounds)
  (let next ((i 0) (value 0))
    (if (< i rounds)
        (begin
          (put-message out value)
          (next (1+ i) (get-message in)))
        value)))

(define (spawn-pair done rounds)
  (let ((there (make-channel))
        (back (make-channel)))
    (spawn-fiber (lambda () (serve there back rounds)) #:parallel? #t)
    (spawn-fiber (lambda () (put-message done (drive there back rounds))) #:parallel? #t)))

(define (all-pairs workers pairs rounds)
  (let ((sum 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (let ((done (make-channel)))
                 (elapsed
                  (do ((i 0 (1+ i))) ((= i pairs))
                    (spawn-pair done rounds))
                  (set! sum
                        (let next ((i 0) (sum 0))
                          (if (< i pairs)
                              (next (1+ i) (+ sum (get-message done)))
                              sum)))))))))
      (check "sum of the last answers" sum (* pairs rounds))
      time)))

(define (main request)
  (let ((pairs (request-parameter request 'pairs))
        (workers (request-workers request)))
    (report-rate (measure request (lambda (rounds) (all-pairs workers pairs rounds))
                          #:operations-per-size pairs)
                 2)))
