;; A chooser waits for whichever of many channels its partner turns to next.
;;
;; Each message is the number of its arm, so that the sums tell whether every arm was chosen as often as it should be.

(define-module (choose)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (fibers operations)
  #:use-module (fibers timers)
  #:use-module (harness)
  #:use-module (ice-9 match)
  #:export (main))

(define (arm-of-step i arms)
  (modulo (+ 3 (* 7919 i)) arms))

(define (receive-operations channels)
  (map get-operation (vector->list channels)))

(define (mixed-operations channels)
  ;; The number of the arm for a receive, zero for a send.
  (map (lambda (channel arm)
         (if (even? arm)
             (get-operation channel)
             (wrap-operation (put-operation channel arm) (lambda () 0))))
       (vector->list channels)
       (iota (vector-length channels))))

;; An operation is a value that can be performed any number of times, so the choice is made once, outside of the loop.
(define (choose-from operations n)
  (let ((choice (apply choice-operation operations)))
    (let next ((i 0) (sum 0))
      (if (< i n)
          (next (1+ i) (+ sum (perform-operation choice)))
          sum))))

;; Not so with a timeout: its clock starts when the operation is made.
(define (choose-in-time operations n)
  (let ((choice (apply choice-operation operations)))
    (define (expired) (error "a timeout of 100 s expired"))
    (let next ((i 0) (sum 0))
      (if (< i n)
          (next (1+ i)
                (+ sum (perform-operation
                        (choice-operation choice (wrap-operation (sleep-operation 100) expired)))))
          sum))))

(define (send-all channels n)
  "The partner of a chooser that only receives.  Its own sum is zero."
  (let ((arms (vector-length channels)))
    (do ((i 0 (1+ i))) ((= i n) 0)
      (let ((arm (arm-of-step i arms)))
        (put-message (vector-ref channels arm) arm)))))

(define (send-and-receive-all channels n)
  (let ((arms (vector-length channels)))
    (let next ((i 0) (sum 0))
      (if (< i n)
          (let* ((arm (arm-of-step i arms))
                 (channel (vector-ref channels arm)))
            (if (even? arm)
                (begin
                  (put-message channel arm)
                  (next (1+ i) sum))
                (next (1+ i) (+ sum (get-message channel)))))
          sum))))

(define (expected-sum arms n)
  (let next ((i 0) (sum 0))
    (if (< i n)
        (next (1+ i) (+ sum (arm-of-step i arms)))
        sum)))

(define (choices workers arms make-operations choose partner n)
  (let ((sum 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (let ((channels (make-vector arms))
                     (done (make-channel)))
                 (do ((i 0 (1+ i))) ((= i arms))
                   (vector-set! channels i (make-channel)))
                 (let ((operations (make-operations channels)))
                   (spawn-fiber (lambda () (put-message done (partner channels n))))
                   (elapsed
                    (let ((own (choose operations n)))
                      (set! sum (+ own (get-message done)))))))))))
      (check "sum" sum (expected-sum arms n))
      time)))

(define (main request)
  (let ((workers (request-workers request))
        (arms (request-parameter request 'arms)))
    (call-with-values
        (lambda ()
          (match (request-variant request)
            ("receive" (values receive-operations choose-from send-all))
            ("both" (values mixed-operations choose-from send-and-receive-all))
            ("timeout" (values receive-operations choose-in-time send-all))
            (variant (unsupported (string-append "no such variant: " variant)))))
      (lambda (make-operations choose partner)
        (report-time
         (measure request (lambda (n) (choices workers arms make-operations choose partner n))))))))
