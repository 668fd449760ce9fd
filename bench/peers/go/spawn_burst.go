package main

import (
	"sync"
	"sync/atomic"
)

func init() {
	register("spawn-burst", variants{"-": spawnBurst})
}

func spawnBurst(j job) (*report, error) {
	tasks, err := j.count("tasks", 1)
	if err != nil {
		return nil, err
	}
	return fixed{
		size:       tasks,
		operations: tasks,
		atLeast:    j.atLeast,
		run:        spawnAll,
		value:      nanosEach,
	}.measure()
}

// A WaitGroup is how Go waits for many goroutines. All are added to it at once, and all run the same closure: so
// a goroutine costs no allocation besides its own.
func spawnAll(tasks int) (span, error) {
	var total atomic.Int64
	var running sync.WaitGroup
	task := func() {
		total.Add(1)
		running.Done()
	}
	watch := start()
	running.Add(tasks)
	for range tasks {
		go task()
	}
	running.Wait()
	return watch.stop(), expect("total of the tasks", int(total.Load()), tasks)
}
