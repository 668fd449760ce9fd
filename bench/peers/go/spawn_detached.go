package main

import "sync/atomic"

func init() {
	register("spawn-detached", variants{"-": spawnDetached})
}

func spawnDetached(j job) (*report, error) {
	tasks, err := j.count("tasks", 1)
	if err != nil {
		return nil, err
	}
	return fixed{
		size:       tasks,
		operations: tasks,
		atLeast:    j.atLeast,
		run:        detachAll,
		value:      nanosEach,
	}.measure()
}

// The last one closes a channel. All run the same closure, so that a goroutine costs no allocation besides its own.
func detachAll(tasks int) (span, error) {
	var left atomic.Int64
	all := make(chan struct{})
	task := func() {
		if left.Add(-1) == 0 {
			close(all)
		}
	}
	watch := start()
	left.Store(int64(tasks))
	for range tasks {
		go task()
	}
	<-all
	return watch.stop(), expect("tasks that are left", int(left.Load()), 0)
}
