package main

import (
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	register("sleepers", variants{"-": sleepers})
}

func sleepers(j job) (*report, error) {
	tasks, err := j.count("tasks", 1)
	if err != nil {
		return nil, err
	}
	return fixed{
		size:       tasks,
		operations: tasks,
		run:        sleepAll,
		value:      func(m measured) float64 { return float64(m.cpu.Nanoseconds()) / float64(m.operations) },
	}.measure()
}

// time.Sleep parks the goroutine on a timer that is kept with it, so sleeping allocates the timer once.
func sleepAll(tasks int) (span, error) {
	var woken atomic.Int64
	var sleeping sync.WaitGroup
	watch := start()
	sleeping.Add(tasks)
	for i := range tasks {
		go func() {
			time.Sleep(time.Duration(500+i*7919%1000) * time.Millisecond)
			woken.Add(1)
			sleeping.Done()
		}()
	}
	sleeping.Wait()
	return watch.stop(), expect("sleepers that woke up", int(woken.Load()), tasks)
}
