;; A kernel thread wakes a fiber whose scheduler has nothing else to do: how long until the fiber has the message.

(define-module (wake)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:use-module (ice-9 atomic)
  #:use-module (ice-9 threads)
  #:export (main))

;; How long the thread stays away after each receipt, so that the scheduler has gone to sleep.
(define pause (quotient internal-time-units-per-second 20000))

(define (busy-wait-until time)
  (when (< (get-internal-real-time) time)
    (busy-wait-until time)))

(define (send-stamps channel received n)
  (do ((i 1 (1+ i))) ((> i n))
    (put-message channel (get-internal-real-time))
    (let wait-for-receipt ()
      (when (< (atomic-box-ref received) i)
        (wait-for-receipt)))
    (busy-wait-until (+ (get-internal-real-time) pause))))

(define (receive-stamps channel received latencies)
  (let ((n (vector-length latencies)))
    (do ((i 0 (1+ i))) ((= i n))
      (let ((stamp (get-message channel)))
        (vector-set! latencies i (- (get-internal-real-time) stamp))
        (atomic-box-set! received (1+ i))))))

(define (wake-up n)
  "Return the time of it all, and the latencies."
  (let* ((channel (make-channel))
         (received (make-atomic-box 0))
         (latencies (make-vector n 0))
         (thread (call-with-new-thread (lambda () (send-stamps channel received n))))
         (time (with-fibers 1
                 (lambda ()
                   (elapsed (receive-stamps channel received latencies))))))
    (join-thread thread)
    (check "receipts" (atomic-box-ref received) n)
    (values time latencies)))

(define (percentile sorted permille)
  (let ((n (vector-length sorted)))
    (vector-ref sorted (min (1- n) (quotient (* n permille) 1000)))))

(define (main request)
  (let* ((latencies #())
         (longer (make-request (request-variant request) 1 (* 3 (request-milliseconds request)) '()))
         (sample (measure longer
                          (lambda (n)
                            (call-with-values (lambda () (wake-up n))
                              (lambda (time measured)
                                (set! latencies measured)
                                time)))))
         (sorted (sort latencies <))
         (p99 (percentile sorted 990)))
    (report sample
            (make-figure "p50" (percentile sorted 500) p99)
            (make-figure "p99" p99 p99)
            (make-figure "p99.9" (percentile sorted 999) p99))))
