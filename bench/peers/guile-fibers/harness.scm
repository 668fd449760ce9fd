;; The common parts of all workloads: the request, the measuring, the check of a result, the line of JSON.
;;
;; A workload's body is a procedure of a size.  It does its set-up, times its main part with `elapsed',
;; checks the result and returns the nanoseconds.

(define-module (harness)
  #:use-module (fibers)
  #:use-module (ice-9 format)
  #:use-module (ice-9 match)
  #:use-module (ice-9 rdelim)
  #:use-module (srfi srfi-9)
  #:export (make-request request-variant request-workers request-milliseconds request-parameter
            unsupported check
            with-fibers elapsed
            measure measure-fixed
            sample-operations sample-nanoseconds sample-cpu sample-runs
            report report-time report-rate
            make-figure))

(define-record-type <request>
  (make-request variant workers milliseconds parameters)
  request?
  (variant request-variant)
  (workers request-workers)
  (milliseconds request-milliseconds)
  (parameters request-parameters))

(define (request-parameter request key)
  (or (assq-ref (request-parameters request) key)
      (error "missing parameter" key)))

;; One measured run, or several of a fixed size.  Both times are in nanoseconds; `cpu' is of the whole process.
(define-record-type <sample>
  (make-sample operations nanoseconds cpu runs)
  sample?
  (operations sample-operations)
  (nanoseconds sample-nanoseconds)
  (cpu sample-cpu)
  (runs sample-runs))

(define-record-type <figure>
  (make-figure name value p99)
  figure?
  (name figure-name)
  (value figure-value)
  (p99 figure-p99))

(define (unsupported reason)
  "End the program with the status that says: this system cannot do that."
  (format (current-error-port) "guile-fibers: ~a\n" reason)
  (exit 3))

(define (check what actual expected)
  (unless (equal? actual expected)
    (error "wrong result:" what actual 'expected expected)))

(define (with-fibers workers thunk)
  "Run THUNK in a fiber on so many kernel threads, and return its values.  The workloads never compute for long, so
preemption, a thread and a timer signal for each scheduler, would be pure cost: hz is zero.  Fibers left blocked at
the end are dropped with their schedulers."
  (run-fibers thunk #:parallelism workers #:hz 0))

(define-syntax-rule (elapsed body ...)
  (let ((start (get-internal-real-time)))
    body ...
    (- (get-internal-real-time) start)))

(define milliseconds->nanoseconds
  (let ((factor (quotient internal-time-units-per-second 1000)))
    (lambda (milliseconds) (* factor milliseconds))))

;; The virtual machine compiles a procedure to native code once it is hot, so the calibration ends with this much time
;; at full size.
(define warm-up (milliseconds->nanoseconds 300))

(define (calibrate run shortest)
  (let grow ((size 4))
    (let ((time (run size)))
      (if (< time shortest)
          (grow (* 4 size))
          (let warm ((time time) (total time))
            (if (< total warm-up)
                (let ((time (run size)))
                  (warm time (+ total time)))
                (values size time)))))))

(define* (measure request run #:key (operations-per-size 1))
  "Find a size for which RUN lasts as long as asked, and measure one such run."
  (let* ((target (milliseconds->nanoseconds (request-milliseconds request)))
         (shortest (min (milliseconds->nanoseconds 10) (quotient target 20))))
    (define (scale size time)
      (max 1 (inexact->exact (round (/ (* size target 1.1) time)))))
    (call-with-values (lambda () (calibrate run shortest))
      (lambda (size time)
        (let retry ((size (scale size time)))
          (let* ((cpu (get-internal-run-time))
                 (time (run size))
                 (cpu (- (get-internal-run-time) cpu)))
            (if (< time (* 0.9 target))
                (retry (max (1+ size) (scale size time)))
                (make-sample (* size operations-per-size) time cpu 1))))))))

(define* (measure-fixed request run size #:key repeat?)
  "Measure RUN at the size given, after one small run; with REPEAT?, as often as it takes to last as long as asked."
  (let ((target (if repeat? (milliseconds->nanoseconds (request-milliseconds request)) 0))
        (cpu (begin (run (max 1 (quotient size 100)))
                    (get-internal-run-time))))
    (let again ((runs 1) (total (run size)))
      (if (< total target)
          (again (1+ runs) (+ total (run size)))
          (make-sample (* runs size) total (- (get-internal-run-time) cpu) runs)))))

(define (peak-resident-bytes)
  (call-with-input-file "/proc/self/status"
    (lambda (port)
      (let next ((line (read-line port)))
        (if (string-prefix? "VmHWM:" line)
            (match (string-tokenize line)
              ((_ kibibytes _) (* 1024 (string->number kibibytes))))
            (next (read-line port)))))))

(define (report sample . figures)
  (define json-number
    (match-lambda (#f "null") (number (number->string (exact->inexact number)))))
  (define json-figure
    (match-lambda
      (($ <figure> name value p99)
       (format #f "{\"name\":\"~a\",\"value\":~a,\"p99\":~a}" name (json-number value) (json-number p99)))))
  (format #t "{\"figures\":[~a],\"operations\":~a,\"cpu_seconds\":~a,\"rss_bytes\":~a}\n"
          (string-join (map json-figure figures) ",")
          (sample-operations sample)
          (json-number (/ (sample-cpu sample) internal-time-units-per-second))
          (peak-resident-bytes)))

(define (report-time sample)
  "The figure is nanoseconds per operation."
  (report sample (make-figure "" (/ (sample-nanoseconds sample) (sample-operations sample)) #f)))

(define (report-rate sample sends-per-operation)
  "The figure is messages per second."
  (report sample (make-figure "" (/ (* (sample-operations sample) sends-per-operation internal-time-units-per-second)
                                    (sample-nanoseconds sample))
                              #f)))
