//! What programs come to.

mod fibers;

use crate::program::Loader;
use lisle_heap::Heap;
use std::cell::RefCell;

thread_local! {
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what the program prints on this thread.
fn keep(text: &str) {
    PRINTED.with_borrow_mut(|printed| printed.push_str(text));
}

/// Runs programs one after the other in one machine, and checks the last value of each, or why it ended. Does so
/// also in a heap in which each allocation moves all young objects.
#[track_caller]
fn are(programs: &[(&str, &str)]) {
    for stress in [false, true] {
        let heap = Heap::builder().nursery(1 << 16).stress(stress).build();
        heap.enter(|s| {
            let mut machine = Loader::new(s, &heap, keep);
            for (text, expected) in programs {
                let value = match machine.run_text(s, text) {
                    Ok(value) => PRINTED.take() + &value,
                    Err(why) => format!("error: {why}"),
                };
                assert_eq!(value, *expected, "{text}");
            }
            assert_eq!(s.verify(), Ok(()));
        });
    }
}

#[test]
fn expressions() {
    are(&[
        ("(+ 1 2 (* 3 4))", "15"),
        (
            "(list 1.5 #\\a \"text\" 'symbol '(1 . 2) #t '() (vector 1 2))",
            "(1.5 #\\a \"text\" symbol (1 . 2) #t () #(1 2))",
        ),
        ("(let loop ((i 0) (sum 0)) (if (= i 100) sum (loop (+ i 1) (+ sum i))))", "4950"),
        ("(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 12)", "144"),
        (
            "(let* ((x 1) (y (+ x 1))) `(x ,x ,@(list y y) #(,y) (nested `(a ,(b ,(+ 1 2))))))",
            "(x 1 2 2 #(2) (nested (quasiquote (a (unquote (b 3))))))",
        ),
        (
            "(define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp))))) (let ((tmp 1) (other 2)) (swap! tmp other) (list tmp other))",
            "(2 1)",
        ),
        ("(define (f x #!rest) x)", "error: cannot read `#!rest`"),
        ("((lambda (first . rest) (list first rest)) 1 2 3)", "(1 (2 3))"),
        (
            "(let () (define (even? n) (if (= n 0) #t (odd? (- n 1)))) (define (odd? n) (if (= n 0) #f (even? (- n 1)))) (even? 101))",
            "#f",
        ),
        (
            "(let ((table (make-table))) (do ((i 0 (+ i 1))) ((= i 100) (list (table-ref table \"7\" #f) (table-ref table '(1) 'none) (table-count table))) (table-set! table (number->string i) (* i i))))",
            "(49 none 100)",
        ),
        ("(call-with-values (lambda () (values 1 2 3)) list)", "(1 2 3)"),
        ("(map + '(1 2 3) '(10 20 30))", "(11 22 33)"),
        ("(display \"hi\") (newline) (write \"hi\")", "hi\n\"hi\"#<unspecified>"),
        ("(force (delay (+ 1 2)))", "3"),
        ("(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) 'composite))", "composite"),
    ]);
}

#[test]
fn errors_say_what_was_wrong() {
    are(&[
        ("(car 5)", "error: car: not a pair: 5"),
        ("(+ 1 'x)", "error: +: not a number: x"),
        ("nowhere", "error: `nowhere` is not defined"),
        ("(5 5)", "error: not a function: 5"),
        ("((lambda (x) x))", "error: a function of 1 parameters is called with 0 arguments"),
        ("(cons 1)", "error: cons: wrong number of arguments: 1"),
        ("(vector-ref (vector 1 2) 2)", "error: vector-ref: there is no element 2 in a vector of 2"),
        ("(error \"no such thing:\" '(a \"b\"))", "error: error: no such thing: (a \"b\")"),
        ("(if)", "error: a special form of the wrong length in (if)"),
        ("(define 5 1)", "error: not a name: 5"),
        ("(define x)", "error: a definition has a name and a value: (define x)"),
        ("(let ((x)) x)", "error: a binding has a name and a value: (let ((x)) x)"),
        ("`(1 . ,@(list 2))", "error: `,@` where no list is in (quasiquote (unquote-splicing (list 2)))"),
        ("(letrec ((x y) (y 1)) x)", "error: a variable is used before its definition"),
        ("(list 1 2", "error: a `(` without its `)`"),
        ("(* 100000000000 100000000000)", "error: *: the result has no room in an integer"),
        ("(quotient 1 0)", "error: quotient: a division by zero"),
    ]);
}

/// Deeper than the registers and than the stack of the thread.
#[test]
fn recursion_is_as_deep_as_the_heap() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let mut machine = Loader::new(s, &heap, keep);
        let count = "(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1))))) (count 300000)";
        assert_eq!(machine.run_text(s, count), Ok("300000".into()));
        let tail = "(define (loop n) (if (= n 0) 'done (loop (- n 1)))) (loop 300000)";
        assert_eq!(machine.run_text(s, tail), Ok("done".into()));
        let fibers = "(map join (map (lambda (n) (spawn-fiber (lambda () (count n)))) '(10 1000 100000)))";
        assert_eq!(machine.run_text(s, fibers), Ok("(10 1000 100000)".into()));
    });
}

#[test]
fn continuations_are_entered_again() {
    are(&[
        ("(+ 1 (call/cc (lambda (k) (* 10 (k 2)))))", "3"),
        // A generator of a list's elements, which is left and entered.
        (
            "(define (generator list)
           (define return #f)
           (define (next)
             (for-each (lambda (x) (call/cc (lambda (k) (set! next (lambda () (k #f))) (return x)))) list)
             (return 'end))
           (lambda () (call/cc (lambda (r) (set! return r) (next)))))
         (let* ((g (generator '(1 2 3))) (a (g)) (b (g)) (c (g)) (d (g))) (list a b c d))",
            "(1 2 3 end)",
        ),
        (
            "(let ((path '()) (again #f) (count 0))
           (define (add x) (set! path (cons x path)))
           (dynamic-wind (lambda () (add 'in)) (lambda () (call/cc (lambda (k) (set! again k))) (add 'within)) (lambda () (add 'out)))
           (set! count (+ count 1))
           (if (< count 3) (again #f) (reverse path)))",
            "(in within out in within out in within out)",
        ),
    ]);
}

/// Where interpreters are often wrong about R5RS: `letrec` with continuations, hygiene, and names of syntax.
#[test]
fn pitfalls() {
    are(&[
        // All values of a `letrec` are computed before one is assigned.
        (
            "(let ((k #f))
           (letrec ((a (call/cc (lambda (c) (set! k c) 0))) (b (call/cc (lambda (c) (set! k c) 0))))
             (if k (let ((again k)) (set! k #f) (set! a 1) (set! b 1) (again 0)) (+ a b))))",
            "0",
        ),
        // The continuation of a `letrec`'s value makes no new variable.
        ("(letrec ((x (call/cc (lambda (c) (list #t c))))) (if (car x) ((cadr x) (list #f (lambda () x))) (eq? x ((cadr x)))))", "#t"),
        // The function of a call is looked at after the arguments.
        ("(call/cc (lambda (k) (0 (k 1))))", "1"),
        // A name that a macro inserts keeps the meaning of the macro's definition.
        ("(let-syntax ((add1 (syntax-rules () ((_ e) (+ e 1))))) (let ((+ *)) (add1 3)))", "4"),
        ("(let ((x 1)) (let-syntax ((outer (syntax-rules () ((_ y) (let-syntax ((inner (syntax-rules () ((_) (let ((x 2)) y))))) (inner)))))) (outer x)))", "1"),
        ("(let-syntax ((x (syntax-rules ()))) 1)", "1"),
        ("(let-syntax ((m (syntax-rules () ((_ #(a b ... c)) #(c (b ...) a))))) (m #(1 2 3 4)))", "#(4 (2 3) 1)"),
        ("(let-syntax ((m (syntax-rules () ((_ (a b ...) ...) '((b ... a) ...))))) (m (1 2 3) (4) (5 6)))", "((2 3 1) (4) (6 5))"),
        ("(let ((else #f)) (cond (#f 1) (else 2) (#t 3)))", "3"),
        ("(let ((if list)) (or #f 2))", "2"),
        // Names of syntax are names.
        ("((lambda lambda lambda) 'x)", "(x)"),
        ("((lambda (begin) (begin 1 2 3)) (lambda lambda lambda))", "(1 2 3)"),
        ("(let ((quote -)) (eqv? '1 1))", "#f"),
        // A continuation that is entered again keeps the values that were computed before.
        (
            "(define a #f) (define b #f) (define i 0) (define r '())
         (let ((sum (+ (* 100 (call/cc (lambda (k) (set! a k) 1))) (call/cc (lambda (k) (set! b k) 2)))))
           (set! r (cons sum r))
           (set! i (+ i 1))
           (case i ((1) (b 3)) ((2) (a 5)) (else (reverse r))))",
            "(102 103 502)",
        ),
        // Yin and yang, ended after some rounds.
        (
            "(let ((seen '()) (n 0))
           (call/cc (lambda (done)
             (let* ((yin ((lambda (k) (set! seen (cons n seen)) (if (= n 5) (done seen) (begin (set! n 0) k))) (call/cc (lambda (c) c))))
                    (yang ((lambda (k) (set! n (+ n 1)) k) (call/cc (lambda (c) c)))))
               (yin yang)))))",
            "(5 4 3 2 1 0)",
        ),
        // `append` shares its last list, and copies the others.
        ("(let* ((end (list 5)) (all (append (list 1 2) end))) (set-car! end 6) all)", "(1 2 6)"),
        // A loop makes a new variable in each round.
        ("(let ((all '())) (do ((i 0 (+ i 1))) ((= i 3)) (set! all (cons (lambda () i) all))) (map (lambda (f) (f)) all))", "(2 1 0)"),
    ]);
}

/// Expressions and data of any depth, on a stack that is no larger than a fiber's.
#[test]
fn what_is_too_deep_is_an_error() {
    let nested = |depth: usize, before: &str, within: &str, after: &str| {
        before.repeat(depth) + within + &after.repeat(depth)
    };
    let run = move || {
        let heap = Heap::builder().nursery(1 << 16).build();
        heap.enter(|s| {
            let mut machine = Loader::new(s, &heap, keep);
            for (before, within, after) in [
                ("(", "", ")"),
                ("'", "x", ""),
                ("#(", "", ")"),
                ("'(1 ", "2", ")"),
                ("(car ", "5", ")"),
                ("(if #t ", "5", ")"),
                ("(if ", "5", " 6 7)"),
                ("(lambda (x) ", "x", ")"),
                ("((lambda (x) ", "x", ") 1)"),
                ("(let ((x 1)) ", "x", ")"),
                ("(let ((x ", "1", ")) x)"),
                ("(let* ((x 1) (y 2)) ", "x", ")"),
                ("(let loop ((x 1)) ", "x", ")"),
                ("(or #f ", "x", ")"),
                ("(cond (#f 1) (else ", "5", "))"),
                ("(begin ", "(if)", ")"),
                ("(set! x ", "1", ")"),
                ("`(1 ", "2", ")"),
                ("`(", "", ")"),
                ("(let-syntax ((m (syntax-rules () ((_ x) (quote x))))) (m ", "1", "))"),
                ("(define-syntax m (syntax-rules () ((_ ", "x", ") x)))"),
            ] {
                for depth in [10, 50, 100, 130, 200, 300, 400, 1_000, 2_000, 4_000, 8_000, 100_000] {
                    let text = nested(depth, before, within, after);
                    if let Err(why) = machine.run_text(s, &text) {
                        assert!(why.len() < 1_000, "{why}");
                        assert!(
                            depth < 100_000 || why.starts_with("lists or expressions are too deep"),
                            "{why}"
                        );
                    }
                }
            }
        });
    };
    std::thread::Builder::new().stack_size(900 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn circular_and_shared_data_ends() {
    are(&[
        ("(define circle (list 1 2 3)) (set-cdr! (cddr circle) circle) (list? circle)", "#f"),
        ("(length circle)", "error: length: not a list: it is circular"),
        ("(apply + circle)", "error: not a list: it is circular"),
        ("(append circle '(1))", "error: append: not a list: it is circular"),
        ("(list->vector circle)", "error: list->vector: not a list: it is circular"),
        ("circle", "(1 2 3 1 2 3 1 ...)"),
        ("(car (cons circle 1)) (+ 1 circle)", "error: +: not a number: (1 2 3 1 2 3 1 ...)"),
        (
            "(define other (list 1 2 3 1 2 3)) (set-cdr! (list-tail other 5) other) (equal? circle other)",
            "#t",
        ),
        ("(set-car! other 5) (equal? circle other)", "#f"),
        ("(define table (make-table)) (table-set! table circle 1) (table-ref table circle #f)", "1"),
        ("(define v (vector 1)) (vector-set! v 0 v) (equal? v v)", "#t"),
        // Trees of 2^50 leaves, which share their halves.
        (
            "(define (tree n) (if (= n 0) 'leaf (let ((half (tree (- n 1)))) (cons half half)))) (equal? (tree 50) (tree 50))",
            "#t",
        ),
    ]);
    let heap = Heap::new();
    heap.enter(|s| {
        let mut machine = Loader::new(s, &heap, keep);
        let deep = "(define (nest n x) (if (= n 0) x (nest (- n 1) (list x)))) (equal? (nest 100000 1) (nest 100000 1))";
        assert_eq!(machine.run_text(s, deep), Ok("#t".into()));
        let shown = machine.run_text(s, "(nest 100000 1)").unwrap();
        assert!(shown.starts_with("((((((") && shown.contains("...") && shown.len() < 1_000, "{shown}");
        let tree = "(define (tree n) (if (= n 0) 'leaf (let ((half (tree (- n 1)))) (cons half half)))) (tree 50)";
        let shown = machine.run_text(s, tree).unwrap();
        assert!(shown.ends_with("...)") && shown.len() < 1_000_000, "{}", shown.len());
    });
}

#[test]
fn macros_without_end_are_errors() {
    are(&[
        (
            "(define-syntax m (syntax-rules () ((_) (m)))) (m)",
            "error: a macro that expands to a macro again and again in (m)",
        ),
        (
            "(define-syntax m (syntax-rules () ((_) (list (m))))) (m)",
            "error: lists or expressions are too deep within each other",
        ),
    ]);
    let heap = Heap::new();
    heap.enter(|s| {
        let mut machine = Loader::new(s, &heap, keep);
        let text = "(define-syntax m (syntax-rules () ((_ x ...) (m x ... x ...)))) (m 1)";
        let why = "a form whose macros expand to more than 1000000 parts";
        assert_eq!(machine.run_text(s, text), Err(why.into()));
    });
}

/// Lists in quasiquotes are built by one call, and errors name the innermost form only.
#[test]
fn long_forms() {
    let heap = Heap::new();
    heap.enter(|s| {
        let mut machine = Loader::new(s, &heap, keep);
        let elements = |n: usize| (0..n).map(|n| format!(" ,(+ {n} 1) x")).collect::<String>();
        let long = format!("(define l `(0{})) (list (length l) (list-ref l 9999))", elements(5_000));
        assert_eq!(machine.run_text(s, &long), Ok("(10001 5000)".into()));
        let too_long = machine.run_text(s, &format!("`(0{})", elements(9_000)));
        assert_eq!(too_long, Err("a function has too many variables, or a call too many arguments".into()));
        let wrong = format!("{}(if){}", "(if #t (begin ".repeat(20), "))".repeat(20));
        assert_eq!(machine.run_text(s, &wrong), Err("a special form of the wrong length in (if)".into()));
        let text = format!("(length '({}))", "(a . 1) ".repeat(100_000));
        assert_eq!(machine.run_text(s, &text), Ok("100000".into()));
    });
}
