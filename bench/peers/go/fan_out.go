package main

func init() {
	register("fan-out", variants{
		"rendezvous": fanOut(0),
		"buffered":   fanOut(64),
	})
}

// Go's channels have many consumers: the workers of a pool range over one channel until it is closed.
func fanOut(capacity int) workload {
	return func(j job) (*report, error) {
		consumers, err := j.count("consumers", 1)
		if err != nil {
			return nil, err
		}
		return measure(j, func(n int) (span, error) {
			jobs := make(chan int, capacity)
			sums := make(chan int, consumers)
			for range consumers {
				go func() {
					sum := 0
					for v := range jobs {
						sum += v
					}
					sums <- sum
				}()
			}
			watch := start()
			for i := range n {
				jobs <- i
			}
			close(jobs)
			total := 0
			for range consumers {
				total += <-sums
			}
			return watch.stop(), expect("sum over all consumers", total, sumBelow(n))
		}, perSecond)
	}
}
