;; The diagonal of a cube of many dimensions: a fiber for each squares its side, a collector adds and takes the root.
;; The fibers are too short to be worth waking another scheduler for; one with nothing to do steals some anyway.

(define-module (diagonal)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (diagonal dimensions)
  (let ((squares (make-channel))
        (result (make-channel)))
    (spawn-fiber
     (lambda ()
       (let next ((i 0) (sum 0))
         (if (< i dimensions)
             (next (1+ i) (+ sum (get-message squares)))
             (put-message result (sqrt sum))))))
    (do ((side 1 (1+ side))) ((> side dimensions))
      (spawn-fiber (lambda () (put-message squares (* side side)))))
    (get-message result)))

(define (sum-of-squares n)
  (quotient (* n (1+ n) (1+ (* 2 n))) 6))

(define (diagonals workers dimensions n)
  (let ((total 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (elapsed
                (set! total
                      (let next ((i 0) (total 0))
                        (if (< i n)
                            (next (1+ i) (+ total (diagonal dimensions)))
                            total))))))))
      ;; The total is rounded at each addition, the product once.
      (check "total, relative to what it should be, rounded"
             (round (* 1e6 (/ total (* n (sqrt (sum-of-squares dimensions))))))
             1e6)
      time)))

(define (main request)
  (let ((dimensions (request-parameter request 'dimensions))
        (workers (request-workers request)))
    (report-time (measure request (lambda (n) (diagonals workers dimensions n))))))
