; The sieve of Eratosthenes: each prime has a fiber that lets the numbers pass which it does not divide. Then the primes
; are summed up in parallel, and a choice gives up after a second.

(define (spawn-numbers)
  (let ((to (make-channel)))
    (spawn-fiber (lambda () (let loop ((n 2)) (put-message to n) (loop (+ n 1)))))
    to))

(define (spawn-filter prime from)
  (let ((to (make-channel)))
    (spawn-fiber
     (lambda ()
       (let loop ((n (get-message from)))
         (unless (= 0 (remainder n prime)) (put-message to n))
         (loop (get-message from)))))
    to))

(define (primes count from)
  (if (= count 0)
      '()
      (let ((prime (get-message from)))
        (cons prime (primes (- count 1) (spawn-filter prime from))))))

(define (collatz n)
  (let loop ((n n) (steps 0))
    (cond ((= n 1) steps)
          ((even? n) (loop (quotient n 2) (+ steps 1)))
          (else (loop (+ (* 3 n) 1) (+ steps 1))))))

(define all (primes 50 (spawn-numbers)))
(display all)
(newline)
(display (pmap collatz all))
(newline)
(display
 (perform-operation
  (choice-operation
   (get-operation (make-channel))
   (wrap-operation (sleep-operation 1) (lambda () "nobody has sent a message")))))
(newline)
