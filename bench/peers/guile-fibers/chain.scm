;; A producer, relays, a consumer: one fiber each, a channel between each two.  Fibers that live as long as the run
;; are dealt out to the schedulers, as the benchmarks of the library itself do it.

(define-module (chain)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (produce out n)
  (let next ((i 0))
    (when (< i n)
      (put-message out i)
      (next (1+ i)))))

(define (relay in out n)
  (let next ((i 0))
    (when (< i n)
      (put-message out (get-message in))
      (next (1+ i)))))

(define (consume in n)
  (let next ((i 0) (sum 0))
    (if (< i n)
        (next (1+ i) (+ sum (get-message in)))
        sum)))

(define (chain workers relays n)
  (let ((sum 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (elapsed
                (let ((first (make-channel)))
                  (spawn-fiber (lambda () (produce first n)) #:parallel? #t)
                  (let extend ((relays relays) (last first))
                    (if (zero? relays)
                        (set! sum (consume last n))
                        (let ((next (make-channel)))
                          (spawn-fiber (lambda () (relay last next n)) #:parallel? #t)
                          (extend (1- relays) next))))))))))
      (check "sum" sum (quotient (* n (1- n)) 2))
      time)))

(define (main request)
  (unless (equal? (request-variant request) "rendezvous")
    (unsupported "a channel of Fibers has no buffer"))
  (let ((relays (request-parameter request 'relays))
        (workers (request-workers request)))
    (report-rate (measure request (lambda (n) (chain workers relays n)))
                 (1+ relays))))
