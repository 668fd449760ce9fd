;; Very many fibers blocked in a receive on one channel.  The figure is the memory that one takes.

(define-module (parked)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (fibers scheduler)
  #:use-module (harness)
  #:use-module (ice-9 match)
  #:use-module (ice-9 rdelim)
  #:use-module (wait-group)
  #:export (main))

(define page-bytes 4096)

(define (resident-bytes)
  "Returns the resident memory once the garbage is gone."
  (gc)
  (match (string-split (call-with-input-file "/proc/self/statm" read-line) #\space)
    ((_ resident . _) (* page-bytes (string->number resident)))))

(define (wait-for-arrivals arrived)
  ;; The last to arrive is not blocked yet; it is once it has given way to this fiber.
  (while (positive? (wait-group-pending arrived))
    (yield-current-task))
  (yield-current-task))

(define (park workers tasks)
  "Return the time of it all, and the bytes of all the fibers."
  (let ((arrived (make-wait-group tasks))
        (released (make-wait-group tasks))
        (bytes 0))
    (let ((time
           (with-fibers workers
             (lambda ()
               (let ((channel (make-channel))
                     (before (resident-bytes)))
                 (elapsed
                  (do ((i 0 (1+ i))) ((= i tasks))
                    (spawn-fiber (lambda ()
                                   (wait-group-done! arrived)
                                   (get-message channel)
                                   (wait-group-done! released))))
                  (wait-for-arrivals arrived)
                  (set! bytes (- (resident-bytes) before))
                  (do ((i 0 (1+ i))) ((= i tasks))
                    (put-message channel i))
                  (wait-group-wait released)))))))
      (check "fibers still parked" (wait-group-pending released) 0)
      (values time bytes))))

(define (main request)
  (let* ((bytes 0)
         (sample (measure-fixed request
                                (lambda (tasks)
                                  (call-with-values (lambda () (park (request-workers request) tasks))
                                    (lambda (time taken)
                                      (set! bytes taken)
                                      time)))
                                (request-parameter request 'tasks))))
    (report sample (make-figure "" (/ bytes (sample-operations sample)) #f))))
