package main

func init() {
	register("spawn-join", variants{"-": spawnJoin})
}

func spawnJoin(j job) (*report, error) {
	return measure(j, spawnAndJoin, nanosEach)
}

// Goroutines have no handles. One that returns a value sends it on a channel, and one at a time can use the same
// channel, and the same closure, again.
func spawnAndJoin(n int) (span, error) {
	result := make(chan int)
	task := func() { result <- 1 }
	sum := 0
	watch := start()
	for range n {
		go task()
		sum += <-result
	}
	return watch.stop(), expect("sum of the results", sum, n)
}
