;; An integer there and back over two channels; the other side adds one to it.

(define-module (ping-pong)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (fibers scheduler)
  #:use-module (harness)
  #:use-module (ice-9 match)
  #:use-module (ice-9 threads)
  #:export (main))

(define (serve in out n)
  (let next ((i 0))
    (when (< i n)
      (put-message out (1+ (get-message in)))
      (next (1+ i)))))

(define (drive out in n)
  "Return the time and the last answer."
  (let ((answer 0))
    (let ((time (elapsed
                 (set! answer
                       (let next ((i 0) (value 0))
                         (if (< i n)
                             (begin
                               (put-message out value)
                               (next (1+ i) (get-message in)))
                             value))))))
      (values time answer))))

(define (two-fibers workers n)
  (with-fibers workers
    (lambda ()
      (let ((there (make-channel))
            (back (make-channel)))
        ;; The other scheduler where there is one.  Schedulers steal from each other, so this is a start, not a place.
        (spawn-fiber (lambda () (serve there back n))
                     (match (scheduler-remote-peers (current-scheduler))
                       ((peer) peer)
                       (() (current-scheduler))))
        (drive there back n)))))

(define (fiber-and-thread n)
  (let* ((there (make-channel))
         (back (make-channel))
         (thread (call-with-new-thread (lambda () (serve there back n)))))
    (call-with-values (lambda () (with-fibers 1 (lambda () (drive there back n))))
      (lambda (time answer)
        (join-thread thread)
        (values time answer)))))

(define (two-threads n)
  ;; Outside of a fiber an operation blocks the kernel thread.
  (let* ((there (make-channel))
         (back (make-channel))
         (thread (call-with-new-thread (lambda () (serve there back n)))))
    (call-with-values (lambda () (drive there back n))
      (lambda (time answer)
        (join-thread thread)
        (values time answer)))))

(define (main request)
  (define ping-pong
    (match (request-variant request)
      ((or "one-domain" "two-domains") (lambda (n) (two-fibers (request-workers request) n)))
      ("task-and-thread" fiber-and-thread)
      ("two-threads" two-threads)
      (variant (unsupported (string-append "no such variant: " variant)))))
  (report-time
   (measure request
            (lambda (n)
              (call-with-values (lambda () (ping-pong n))
                (lambda (time answer)
                  (check "last answer" answer n)
                  time))))))
