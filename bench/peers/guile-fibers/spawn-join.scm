;; Spawn a fiber that returns a number, and wait for it.  A fiber has no handle to join: its result comes by a
;; channel.  It stays on the scheduler of its parent, which only waits for it.

(define-module (spawn-join)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (spawn-and-join number)
  (let ((result (make-channel)))
    (spawn-fiber (lambda () (put-message result number)))
    (get-message result)))

(define (spawn-joins workers n)
  (let ((sum 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (elapsed
                (set! sum
                      (let next ((i 0) (sum 0))
                        (if (< i n)
                            (next (1+ i) (+ sum (spawn-and-join i)))
                            sum))))))))
      (check "sum" sum (quotient (* n (1- n)) 2))
      time)))

(define (main request)
  (let ((workers (request-workers request)))
    (report-time (measure request (lambda (n) (spawn-joins workers n))))))
