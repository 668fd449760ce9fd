;; The sieve: a generator, and behind it a filter for every prime that has come out at the end so far.

(define-module (sieve)
  #:use-module (fibers)
  #:use-module (fibers channels)
  #:use-module (harness)
  #:export (main))

(define (generate out)
  (let next ((i 2))
    (put-message out i)
    (next (1+ i))))

(define (filter-multiples prime in out)
  (let next ()
    (let ((i (get-message in)))
      (unless (zero? (remainder i prime))
        (put-message out i))
      (next))))

(define (nth-prime n)
  (let ((first (make-channel)))
    (spawn-fiber (lambda () (generate first)) #:parallel? #t)
    (let extend ((n n) (last first))
      (let ((prime (get-message last)))
        (if (= n 1)
            prime
            (let ((next (make-channel)))
              (spawn-fiber (lambda () (filter-multiples prime last next)) #:parallel? #t)
              (extend (1- n) next)))))))

(define (nth-prime-by-division n)
  (let next ((candidate 2) (primes '()) (count 0))
    (cond
     ((= count n) (car primes))
     ((let divides ((d 2))
        (cond ((> (* d d) candidate) #f)
              ((zero? (remainder candidate d)) #t)
              (else (divides (1+ d)))))
      (next (1+ candidate) primes count))
     (else (next (1+ candidate) (cons candidate primes) (1+ count))))))

(define (sieve workers n)
  (let ((prime 0))
    (let ((time (with-fibers workers
                  (lambda ()
                    (elapsed (set! prime (nth-prime n)))))))
      (check "prime" prime (nth-prime-by-division n))
      time)))

(define (main request)
  (let* ((workers (request-workers request))
         (sample (measure-fixed request (lambda (n) (sieve workers n)) (request-parameter request 'primes)
                                #:repeat? #t))
         (milliseconds (/ (sample-nanoseconds sample) 1e6)))
    (report sample (make-figure "" (/ milliseconds (sample-runs sample)) #f))))
