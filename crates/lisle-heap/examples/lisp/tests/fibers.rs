//! What programs of several fibers come to.

use super::keep;
use crate::program::Loader;
use lisle::Runtime;
use lisle_heap::Heap;

/// Runs each program in a machine of its own on one domain and on two, in a heap that seldom collects and in one that
/// does so at each allocation.
#[track_caller]
fn in_fibers_are(programs: &[(&str, &str)]) {
    for (domains, stress) in [(1, false), (2, false), (1, true), (2, true)] {
        for (text, expected) in programs {
            let heap = Heap::builder().nursery(1 << 16).stress(stress).build();
            let run = || heap.enter(|s| Loader::new(s, &heap, keep).run_text(s, text));
            let value = match Runtime::builder().domains(domains).closed_world(true).try_run(run) {
                Ok(Ok(value)) => value,
                Ok(Err(why)) => format!("error: {why}"),
                Err(deadlock) => format!("deadlock of {} fibers", deadlock.waiting().fibers.len()),
            };
            assert_eq!(value, *expected, "{text}");
            assert_eq!(heap.verify(), Ok(()));
        }
    }
}

#[test]
fn fibers_send_messages() {
    in_fibers_are(&[
        ("(join (spawn-fiber (lambda () (+ 1 2))))", "3"),
        ("(let ((f (spawn-fiber (lambda () (list 1 2))))) (list (join f) (join f) (eq? (join f) (join f))))", "((1 2) (1 2) #t)"),
        // The sieve: a fiber for each prime lets the numbers pass that it does not divide.
        (
            "(define (numbers to) (let loop ((n 2)) (put-message to n) (loop (+ n 1))))
             (define (sieve prime from to)
               (let loop ()
                 (let ((n (get-message from)))
                   (unless (= 0 (remainder n prime)) (put-message to n))
                   (loop))))
             (define (primes count from)
               (if (= count 0)
                   '()
                   (let ((prime (get-message from)) (to (make-channel)))
                     (spawn-fiber (lambda () (sieve prime from to)))
                     (cons prime (primes (- count 1) to)))))
             (define first (make-channel))
             (spawn-fiber (lambda () (numbers first)))
             (primes 10 first)",
            "(2 3 5 7 11 13 17 19 23 29)",
        ),
        // Eight fibers that count through one that owns the number.
        (
            "(define wishes (make-channel))
             (define (server n)
               (let ((answer (get-message wishes)))
                 (if answer (begin (put-message answer n) (server (+ n 1))) n)))
             (define (client)
               (let ((answer (make-channel)))
                 (do ((i 0 (+ i 1))) ((= i 25)) (put-message wishes answer) (get-message answer))))
             (define owner (spawn-fiber (lambda () (server 0))))
             (for-each join (map (lambda (n) (spawn-fiber client)) '(1 2 3 4 5 6 7 8)))
             (put-message wishes #f)
             (join owner)",
            "200",
        ),
        // Winds and deep recursion are each fiber's own.
        (
            "(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
             (define ch (make-channel))
             (define f (spawn-fiber (lambda () (dynamic-wind (lambda () #f) (lambda () (get-message ch) (deep 400)) (lambda () #f)))))
             (call/cc (lambda (k) (dynamic-wind (lambda () #f) (lambda () (put-message ch 1) (k 5)) (lambda () #f))))
             (join f)",
            "400",
        ),
        // A continuation goes on in the fiber that calls it, which may have fewer registers.
        (
            "(define k #f)
             (define (deep n) (if (= n 0) (call/cc (lambda (c) (set! k c) 0)) (+ 1 (deep (- n 1)))))
             (let* ((n (deep 400)) (again k))
               (set! k #f)
               (if again (join (spawn-fiber (lambda () (again 7)))) n))",
            "407",
        ),
    ]);
}

#[test]
fn operations_are_chosen() {
    in_fibers_are(&[
        (
            "(define ch (make-channel))
             (define (in-time) (perform-operation (choice-operation (get-operation ch) (wrap-operation (sleep-operation 0.02) (lambda () 'late)))))
             (define late (in-time))
             (spawn-fiber (lambda () (put-message ch 'message)))
             (list late (perform-operation (choice-operation (get-operation ch) (sleep-operation 3600))))",
            "(late message)",
        ),
        // One of two ends of each choice.
        (
            "(define a (make-channel))
             (define b (make-channel))
             (define f (spawn-fiber (lambda () (perform-operation (choice-operation (wrap-operation (put-operation a 1) (lambda () 'sent)) (get-operation b))))))
             (list (get-message a) (join f))",
            "(1 sent)",
        ),
        // Functions are applied from the inside.
        (
            "(define f (spawn-fiber (lambda () 5)))
             (perform-operation (wrap-operation (wrap-operation (join-operation f) (lambda (x) (values x (* x x)))) list))",
            "(5 25)",
        ),
        ("(perform-operation 5)", "error: perform: not a list: it ends in 5"),
        ("(perform-operation '((1 2) (3)))", "error: perform: not an operation"),
        // An operation is data, which others may change meanwhile.
        (
            "(define ch (make-channel))
             (define op (get-operation ch))
             (define f (spawn-fiber (lambda () (perform-operation op))))
             (sleep 0.01)
             (set-cdr! (car op) '())
             (put-message ch 5)
             (join f)",
            "5",
        ),
        ("(sleep -1)", "error: perform: not a time: -1"),
        ("(get-message 'x)", "error: perform: not a number: x"),
        ("(define ch (make-channel)) (spawn-fiber (lambda () (get-message ch))) (get-message ch)", "deadlock of 2 fibers"),
    ]);
}

#[test]
fn errors_in_fibers_reach_those_who_join() {
    in_fibers_are(&[
        ("(define f (spawn-fiber (lambda () (car 5)))) (sleep 0.001) 'fine", "fine"),
        ("(define f (spawn-fiber (lambda () (car 5)))) (join f)", "error: perform: car: not a pair: 5"),
        ("(spawn-fiber 5) (sleep 0.001) (join (spawn-fiber 5))", "error: perform: not a function: 5"),
    ]);
}

#[test]
fn maps_on_all_domains() {
    in_fibers_are(&[
        (
            "(define (iota n) (let loop ((n n) (all '())) (if (= n 0) all (loop (- n 1) (cons n all)))))
             (define (f n) (list n (map (lambda (m) (* m n)) (iota 5))))
             (list (equal? (pmap f (iota 100)) (map f (iota 100))) (pmap f '()) (pmap not (vector #f 1)))",
            "(#t () #(#t #f))",
        ),
        ("(pmap (lambda (n) (/ 1 n)) '(1 2 0 0.5))", "error: pmap: /: a division by zero"),
        ("(pmap car '(1 . 2))", "error: list->vector: not a list: it ends in 2"),
        ("(pmap (lambda (n) (pmap (lambda (m) (* m n)) '(1 2 3))) '(1 2 3))", "((1 2 3) (2 4 6) (3 6 9))"),
        // All use one table, one table of symbols, and a channel.
        (
            "(define table (make-table))
             (define (note n)
               (let ((name (string->symbol (number->string (remainder n 50)))))
                 (table-set! table name (cons n (table-ref table n '())))
                 (table-set! table n name)
                 (eq? (table-ref table n #f) name)))
             (define (iota n) (let loop ((n n) (all '())) (if (= n 0) all (loop (- n 1) (cons n all)))))
             (list (memq #f (pmap note (iota 200))) (table-count table))",
            "(#f 250)",
        ),
        (
            "(define ch (make-channel))
             (spawn-fiber (lambda () (let loop ((n 0)) (put-message ch n) (loop (+ n 1)))))
             (define got (pmap (lambda (n) (get-message ch)) '(1 2 3 4 5 6 7 8)))
             (apply + got)",
            "28",
        ),
    ]);
}

/// A fiber that computes without end lets others run, and collect, and ends with the program.
#[test]
fn a_loop_lets_others_run() {
    in_fibers_are(&[
        (
            "(define go #t)
             (define f (spawn-fiber (lambda () (let loop ((n 0)) (if go (loop (+ n 1)) 'stopped)))))
             (sleep 0.01)
             (collect)
             (set! go #f)
             (join f)",
            "stopped",
        ),
        ("(spawn-fiber (lambda () (let loop ((n 0)) (loop (+ n 1))))) (sleep 0.01) 'end", "end"),
    ]);
}

#[test]
fn the_example_runs() {
    let heap = Heap::new();
    let run = || heap.enter(|s| Loader::new(s, &heap, keep).run_text(s, include_str!("../sieve.scm")));
    assert_eq!(Runtime::builder().domains(2).run(run), Ok("#<unspecified>".into()));
}
