;; One producer, many consumers that receive from the one channel.

(define-module (fan-out)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (consume in done)
  ;; A channel cannot be closed, so #f ends the stream, once for each consumer.
  (let next ((sum 0))
    (let ((value (get-message in)))
      (if value
          (next (+ sum value))
          (put-message done sum)))))

(define (produce out n consumers)
  (do ((i 0 (1+ i))) ((= i n))
    (put-message out i))
  (do ((i 0 (1+ i))) ((= i consumers))
    (put-message out #f)))

(define (fan-out workers consumers n)
  (let ((sum 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (let ((work (make-channel))
                     (done (make-channel)))
                 (do ((i 0 (1+ i))) ((= i consumers))
                   (spawn-fiber (lambda () (consume work done)) #:parallel? #t))
                 (elapsed
                  (spawn-fiber (lambda () (produce work n consumers)) #:parallel? #t)
                  (set! sum
                        (let next ((i 0) (sum 0))
                          (if (< i consumers)
                              (next (1+ i) (+ sum (get-message done)))
                              sum)))))))))
      (check "sum" sum (quotient (* n (1- n)) 2))
      time)))

(define (main request)
  (unless (equal? (request-variant request) "rendezvous")
    (unsupported "a channel of Fibers has no buffer"))
  (let ((consumers (request-parameter request 'consumers))
        (workers (request-workers request)))
    (report-rate (measure request (lambda (n) (fan-out workers consumers n)))
                 1)))
