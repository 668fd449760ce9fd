;; Spawn very many fibers from one, then wait for all.

(define-module (spawn-burst)
  #:use-module (fibers)
  #:use-module (harness)
  #:use-module (wait-group)
  #:export (main))

(define (burst workers tasks)
  (let* ((group (make-wait-group tasks))
         (time
          (with-fibers workers
            (lambda ()
              (elapsed
               (do ((i 0 (1+ i))) ((= i tasks))
                 (spawn-fiber (lambda () (wait-group-done! group)) #:parallel? #t))
               (wait-group-wait group))))))
    (check "fibers pending" (wait-group-pending group) 0)
    time))

(define (main request)
  (let ((workers (request-workers request))
        (tasks (request-parameter request 'tasks)))
    (report-time (measure-fixed request (lambda (n) (burst workers n)) tasks #:repeat? #t))))
