;; The peer written with Fibers 1.x for Guile 3.0.  Each file is compiled once, and then the program is started, by
;;
;;   guild compile -L DIR -O2 -o COMPILED/NAME.go DIR/NAME.scm
;;   guile --no-auto-compile -L DIR -C COMPILED DIR/main.scm WORKLOAD VARIANT WORKERS MILLIS [key=value ...]
;;
;; A workload is the module of its own name, with one export, `main', that takes a request.  A new workload is one new
;; file.

(use-modules (harness)
             (ice-9 match))

(define (fail message)
  (format (current-error-port) "guile-fibers: ~a\n" message)
  (exit 1))

(define (parse-parameter text)
  (match (string-split text #\=)
    ((key value) (cons (string->symbol key) (string->number value)))
    (_ (fail (string-append "not of the form key=value: " text)))))

(match (command-line)
  ((_ workload variant workers milliseconds parameters ...)
   (unless (search-path %load-path (string-append workload ".scm"))
     (unsupported (string-append "no such workload: " workload)))
   ;; Without its compiled form Guile would silently interpret the workload, at a fraction of the speed.
   (unless (search-path %load-compiled-path (string-append workload ".go"))
     (fail (string-append "not compiled: " workload)))
   ((module-ref (resolve-interface (list (string->symbol workload))) 'main)
    (make-request variant (string->number workers) (string->number milliseconds)
                  (map parse-parameter parameters))))
  (_ (fail "usage: main.scm WORKLOAD VARIANT WORKERS MILLIS [key=value ...]")))
