; What Scheme has beyond the special forms of the expander and the functions of Rust.

(define-syntax define
  (syntax-rules ()
    ((_ (name . parameters) body ...) (%define name (lambda parameters body ...)))
    ((_ name value) (%define name value))
    ((_ . wrong) (syntax-error "a definition has a name and a value:" (define . wrong)))))

(define-syntax let
  (syntax-rules ()
    ((_ ((name value) ...) body ...) ((lambda (name ...) body ...) value ...))
    ((_ loop ((name value) ...) body ...)
     ((let () (define loop (lambda (name ...) body ...)) loop) value ...))
    ((_ . wrong) (syntax-error "a binding has a name and a value:" (let . wrong)))))

(define-syntax letrec*
  (syntax-rules ()
    ((_ ((name value) ...) body ...) (let () (define name value) ... (let () body ...)))
    ((_ . wrong) (syntax-error "a binding has a name and a value:" (letrec* . wrong)))))

; All values are computed, as temporary variables, before a name gets its value.
(define-syntax letrec
  (syntax-rules ()
    ((_ ((name value) ...) body ...) (%letrec ((name value) ...) () body ...))
    ((_ . wrong) (syntax-error "a binding has a name and a value:" (letrec . wrong)))))
(define-syntax %letrec
  (syntax-rules ()
    ((_ () ((name value computed) ...) body ...)
     (let () (define computed value) ... (define name computed) ... (let () body ...)))
    ((_ ((name value) more ...) (done ...) body ...)
     (%letrec (more ...) (done ... (name value computed)) body ...))))

(define-syntax let-syntax
  (syntax-rules ()
    ((_ ((name rules) ...) body ...) (let () (define-syntax name rules) ... (let () body ...)))))
(define-syntax letrec-syntax
  (syntax-rules () ((_ part ...) (let-syntax part ...))))

; Each quasiquote around the datum but the first has a mark.
(define-syntax quasiquote
  (syntax-rules () ((_ x) (%quasi x ()))))
(define-syntax %quasi
  (syntax-rules (quasiquote unquote unquote-splicing)
    ((_ (unquote x) ()) x)
    ((_ (unquote-splicing x) ())
     (syntax-error "`,@` where no list is in" (quasiquote (unquote-splicing x))))
    ((_ (quasiquote x) marks) (list 'quasiquote (%quasi x (deeper . marks))))
    ((_ (unquote x) (mark . marks)) (list 'unquote (%quasi x marks)))
    ((_ (unquote-splicing x) (mark . marks)) (list 'unquote-splicing (%quasi x marks)))
    ((_ (x y ... quasiquote z) marks) (%quasi-list marks (x y ...) (quasiquote z)))
    ((_ (x y ... unquote z) marks) (%quasi-list marks (x y ...) (unquote z)))
    ((_ (x y ... unquote-splicing z) marks) (%quasi-list marks (x y ...) (unquote-splicing z)))
    ((_ (x y ... . end) marks) (%quasi-list marks (x y ...) end))
    ((_ #(x ...) marks) (list->vector (%quasi (x ...) marks)))
    ((_ x marks) 'x)))
(define-syntax %quasi-list
  (syntax-rules () ((_ marks (x ...) end) (append (%quasi-part x marks) ... (%quasi end marks)))))
(define-syntax %quasi-part
  (syntax-rules (unquote-splicing)
    ((_ (unquote-splicing x) ()) x)
    ((_ x marks) (list (%quasi x marks)))))

(define-syntax and
  (syntax-rules ()
    ((_) #t)
    ((_ last) last)
    ((_ first rest ...) (if first (and rest ...) #f))))

(define-syntax or
  (syntax-rules ()
    ((_) #f)
    ((_ last) last)
    ((_ first rest ...) (let ((value first)) (if value value (or rest ...))))))

(define-syntax let*
  (syntax-rules ()
    ((_ () body ...) (let () body ...))
    ((_ (first rest ...) body ...) (let (first) (let* (rest ...) body ...)))))

(define-syntax cond
  (syntax-rules (else =>)
    ((_ (else result ...)) (begin result ...))
    ((_ (test => use) clause ...) (let ((value test)) (if value (use value) (cond clause ...))))
    ((_ (test) clause ...) (or test (cond clause ...)))
    ((_ (test result ...) clause ...) (if test (begin result ...) (cond clause ...)))
    ((_) (if #f #f))))

(define-syntax case
  (syntax-rules (else)
    ((_ (part ...) clause ...) (let ((key (part ...))) (case key clause ...)))
    ((_ key (else result ...)) (begin result ...))
    ((_ key ((datum ...) result ...) clause ...)
     (if (memv key '(datum ...)) (begin result ...) (case key clause ...)))
    ((_ key) (if #f #f))))

(define-syntax when
  (syntax-rules () ((_ test body ...) (if test (begin body ...) (if #f #f)))))

(define-syntax unless
  (syntax-rules () ((_ test body ...) (if test (if #f #f) (begin body ...)))))

(define-syntax do
  (syntax-rules ()
    ((_ ((name first step ...) ...) (test result ...) body ...)
     (let loop ((name first) ...)
       (if test
           (begin (if #f #f) result ...)
           (begin body ... (loop (%step name step ...) ...)))))))

(define-syntax %step
  (syntax-rules () ((_ name) name) ((_ name step) step)))

(define-syntax delay
  (syntax-rules () ((_ value) (%make-promise (lambda () value)))))

(define (%make-promise compute)
  (let ((is-done #f) (value #f))
    (lambda ()
      (if is-done
          value
          (let ((computed (compute)))
            (unless is-done
              (set! is-done #t)
              (set! value computed))
            value)))))

(define (force promise) (promise))

(define (newline) (display "\n"))
(define (not value) (if value #f #t))
(define (zero? n) (= n 0))
(define (positive? n) (> n 0))
(define (negative? n) (< n 0))
(define (even? n) (= (remainder n 2) 0))
(define (odd? n) (not (even? n)))
(define (abs n) (if (< n 0) (- n) n))
(define (max first . rest) (if (null? rest) first (let ((m (apply max rest))) (if (> first m) first m))))
(define (min first . rest) (if (null? rest) first (let ((m (apply min rest))) (if (< first m) first m))))

(define (caar x) (car (car x)))
(define (cadr x) (car (cdr x)))
(define (cdar x) (cdr (car x)))
(define (cddr x) (cdr (cdr x)))
(define (caddr x) (car (cddr x)))
(define (list-tail list n) (if (= n 0) list (list-tail (cdr list) (- n 1))))
(define (list-ref list n) (car (list-tail list n)))
(define (reverse list)
  (let loop ((rest list) (done '())) (if (null? rest) done (loop (cdr rest) (cons (car rest) done)))))
(define (memq x list) (cond ((null? list) #f) ((eq? x (car list)) list) (else (memq x (cdr list)))))
(define (memv x list) (cond ((null? list) #f) ((eqv? x (car list)) list) (else (memv x (cdr list)))))
(define (member x list) (cond ((null? list) #f) ((equal? x (car list)) list) (else (member x (cdr list)))))
(define (assq x list) (cond ((null? list) #f) ((eq? x (caar list)) (car list)) (else (assq x (cdr list)))))
(define (assv x list) (cond ((null? list) #f) ((eqv? x (caar list)) (car list)) (else (assv x (cdr list)))))
(define (assoc x list) (cond ((null? list) #f) ((equal? x (caar list)) (car list)) (else (assoc x (cdr list)))))

(define (%map1 f list) (if (null? list) '() (let ((first (f (car list)))) (cons first (%map1 f (cdr list))))))
(define (map f first . rest)
  (if (null? rest)
      (%map1 f first)
      (let loop ((lists (cons first rest)))
        (if (memq '() lists)
            '()
            (let ((value (apply f (%map1 car lists)))) (cons value (loop (%map1 cdr lists))))))))
(define (for-each f first . rest)
  (let loop ((lists (cons first rest)))
    (unless (memq '() lists)
      (apply f (%map1 car lists))
      (loop (%map1 cdr lists)))))
(define (filter keep list)
  (cond ((null? list) '()) ((keep (car list)) (cons (car list) (filter keep (cdr list)))) (else (filter keep (cdr list)))))
(define (fold f start list) (if (null? list) start (fold f (f (car list) start) (cdr list))))

(define (values . list) (%list->values list))
(define (call-with-values producer consumer) (apply consumer (%values->list (producer))))

; The winds that a fiber has entered, the innermost first. A continuation leaves and enters those between its
; place and the place that it is called from.
(define (%common a b)
  (let loop ((a a) (b b) (la (length a)) (lb (length b)))
    (cond ((> la lb) (loop (cdr a) b (- la 1) lb))
          ((< la lb) (loop a (cdr b) la (- lb 1)))
          ((eq? a b) a)
          (else (loop (cdr a) (cdr b) (- la 1) (- lb 1))))))
(define (%rewind to)
  (let ((common (%common (%winds) to)))
    (let leave ()
      (unless (eq? (%winds) common)
        (let ((after (cdar (%winds))))
          (%set-winds! (cdr (%winds)))
          (after)
          (leave))))
    (let enter ((winds to))
      (unless (eq? winds common)
        (enter (cdr winds))
        ((caar winds))
        (%set-winds! winds)))))
(define (call-with-current-continuation f)
  (%call/cc
   (lambda (k)
     (let ((winds (%winds)))
       (f (lambda list
            (unless (eq? winds (%winds)) (%rewind winds))
            (k (%list->values list))))))))
(define call/cc call-with-current-continuation)
(define (dynamic-wind before thunk after)
  (before)
  (%set-winds! (cons (cons before after) (%winds)))
  (let ((values-of-thunk (thunk)))
    (%set-winds! (cdr (%winds)))
    (after)
    values-of-thunk))

; An operation is a list of alternatives. Each has a function of its values, and a channel, a channel and a message for
; it, a fiber, or a number of seconds. The names are those of Guile Fibers.
(define (get-operation channel) (list (list values channel)))
(define (put-operation channel message) (list (list values channel message)))
(define (join-operation fiber) (list (list values fiber)))
(define (sleep-operation seconds) (list (list values seconds)))
(define (choice-operation . operations) (apply append operations))
(define (wrap-operation operation f)
  (map (lambda (alternative)
         (cons (lambda list (call-with-values (lambda () (apply (car alternative) list)) f)) (cdr alternative)))
       operation))
(define (perform-operation operation)
  (let ((won (%perform operation))) (apply (car won) (cdr won))))
(define (get-message channel) (perform-operation (get-operation channel)))
(define (put-message channel message) (perform-operation (put-operation channel message)))
(define (join fiber) (perform-operation (join-operation fiber)))
(define (sleep seconds) (perform-operation (sleep-operation seconds)))

; `map` on all domains, for one list or one vector.
(define (pmap f all)
  (if (vector? all) (%pmap f all) (vector->list (%pmap f (list->vector all)))))
