;; Very many fibers sleep for between half a second and one and a half.  The figure is the time of the processor.

(define-module (sleepers)
  #:use-module ((fibers) #:select (spawn-fiber))
  #:use-module (fibers timers)
  #:use-module (harness)
  #:use-module (wait-group)
  #:export (main))

(define (sleep-all workers tasks)
  (let* ((group (make-wait-group tasks))
         (time
          (with-fibers workers
            (lambda ()
              (elapsed
               (do ((i 0 (1+ i))) ((= i tasks))
                 (let ((seconds (/ (+ 500 (modulo (* i 7919) 1000)) 1000.0)))
                   (spawn-fiber (lambda ()
                                  (sleep seconds)
                                  (wait-group-done! group)))))
               (wait-group-wait group))))))
    (check "sleepers pending" (wait-group-pending group) 0)
    time))

(define (main request)
  (let* ((workers (request-workers request))
         (sample (measure-fixed request (lambda (n) (sleep-all workers n)) (request-parameter request 'tasks))))
    (report sample (make-figure "" (/ (sample-cpu sample) (sample-operations sample)) #f))))
