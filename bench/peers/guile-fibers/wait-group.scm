;; A countdown that many fibers take part in and one waits for.  Fibers has none of its own; an atomic counter whose
;; last step signals a condition costs less than a message from each.

(define-module (wait-group)
  #:use-module (fibers conditions)
  #:use-module (ice-9 atomic)
  #:use-module (srfi srfi-9)
  #:export (make-wait-group wait-group-done! wait-group-wait wait-group-pending))

(define-record-type <wait-group>
  (%make-wait-group pending finished)
  wait-group?
  (pending wait-group-box)
  (finished wait-group-condition))

(define (make-wait-group count)
  (%make-wait-group (make-atomic-box count) (make-condition)))

(define (wait-group-pending group)
  (atomic-box-ref (wait-group-box group)))

(define (wait-group-done! group)
  (let ((box (wait-group-box group)))
    (let retry ((pending (atomic-box-ref box)))
      (let ((found (atomic-box-compare-and-swap! box pending (1- pending))))
        (cond
         ((not (eq? found pending)) (retry found))
         ((eq? pending 1) (signal-condition! (wait-group-condition group))))))))

(define (wait-group-wait group)
  (wait (wait-group-condition group)))
