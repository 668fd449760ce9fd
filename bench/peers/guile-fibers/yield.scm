;; Two fibers yield to each other.

(define-module (yield)
  #:use-module (fibers)
  #:use-module (fibers scheduler)
  #:use-module (harness)
  #:use-module (wait-group)
  #:export (main))

(define (yield-times n)
  "Yield N times, and return how many of them really gave up the processor."
  (let next ((i 0) (yields 0))
    (if (< i n)
        (next (1+ i) (if (yield-current-task) (1+ yields) yields))
        yields)))

(define (two-yielders workers n)
  (let* ((group (make-wait-group 1))
         (yields 0)
         (time
          (with-fibers workers
            (lambda ()
              (spawn-fiber (lambda ()
                             (set! yields (+ yields (yield-times n)))
                             (wait-group-done! group)))
              (elapsed
               (let ((own (yield-times n)))
                 (wait-group-wait group)
                 (set! yields (+ yields own))))))))
    (check "yields" yields (* 2 n))
    time))

(define (main request)
  (let ((workers (request-workers request)))
    (report-time (measure request (lambda (n) (two-yielders workers n)) #:operations-per-size 2))))
