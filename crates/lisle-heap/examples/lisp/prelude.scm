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

; The marks after the datum are the quasiquotes around it.
(define-syntax quasiquote
  (syntax-rules (quasiquote unquote unquote-splicing)
    ((_ (unquote x)) x)
    ((_ (unquote-splicing x))
     (syntax-error "`,@` where no list is in" (quasiquote (unquote-splicing x))))
    ((_ ((unquote-splicing x) . rest)) (append x (quasiquote rest)))
    ((_ (quasiquote x) mark ...) (list 'quasiquote (quasiquote x mark ... deeper)))
    ((_ (unquote x) mark more ...) (list 'unquote (quasiquote x more ...)))
    ((_ (unquote-splicing x) mark more ...) (list 'unquote-splicing (quasiquote x more ...)))
    ((_ (x . rest) mark ...) (cons (quasiquote x mark ...) (quasiquote rest mark ...)))
    ((_ #(x ...) mark ...) (list->vector (quasiquote (x ...) mark ...)))
    ((_ x mark ...) 'x)))

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
(define (list? x)
  (cond ((null? x) #t) ((pair? x) (list? (cdr x))) (else #f)))
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

; The winds that are entered, the innermost first. A continuation leaves and enters those between its
; place and the place that it is called from.
(define %winds '())
(define (%common a b)
  (let loop ((a a) (b b) (la (length a)) (lb (length b)))
    (cond ((> la lb) (loop (cdr a) b (- la 1) lb))
          ((< la lb) (loop a (cdr b) la (- lb 1)))
          ((eq? a b) a)
          (else (loop (cdr a) (cdr b) (- la 1) (- lb 1))))))
(define (%rewind to)
  (let ((common (%common %winds to)))
    (let leave ()
      (unless (eq? %winds common)
        (let ((after (cdar %winds)))
          (set! %winds (cdr %winds))
          (after)
          (leave))))
    (let enter ((winds to))
      (unless (eq? winds common)
        (enter (cdr winds))
        ((caar winds))
        (set! %winds winds)))))
(define (call-with-current-continuation f)
  (%call/cc
   (lambda (k)
     (let ((winds %winds))
       (f (lambda list
            (unless (eq? winds %winds) (%rewind winds))
            (k (%list->values list))))))))
(define call/cc call-with-current-continuation)
(define (dynamic-wind before thunk after)
  (before)
  (set! %winds (cons (cons before after) %winds))
  (let ((values-of-thunk (thunk)))
    (set! %winds (cdr %winds))
    (after)
    values-of-thunk))
