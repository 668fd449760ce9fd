package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	register("parked", variants{"-": parked})
}

func parked(j job) (*report, error) {
	tasks, err := j.count("tasks", 1)
	if err != nil {
		return nil, err
	}
	if _, _, err := park(max(1, tasks/100)); err != nil {
		return nil, err
	}
	bytes, took, err := park(tasks)
	if err != nil {
		return nil, err
	}
	m := measured{tasks, took}
	return m.report(figure{Value: float64(bytes) / float64(tasks)}), nil
}

// park lets a number of goroutines wait on one channel, and returns by how many bytes that made the process grow.
// Closing the channel releases them all.
func park(tasks int) (bytes int, took span, err error) {
	var arriving, leaving sync.WaitGroup
	var released atomic.Int64
	release := make(chan struct{})
	before, err := resident()
	if err != nil {
		return 0, span{}, err
	}
	watch := start()
	arriving.Add(tasks)
	leaving.Add(tasks)
	task := func() {
		arriving.Done()
		<-release
		released.Add(1)
		leaving.Done()
	}
	for range tasks {
		go task()
	}
	arriving.Wait()
	// The last to arrive may have a step to go to its receive.
	time.Sleep(10 * time.Millisecond)
	took = watch.stop()
	after, err := resident()
	if err != nil {
		return 0, span{}, err
	}
	close(release)
	leaving.Wait()
	return after - before, took, expect("tasks released", int(released.Load()), tasks)
}

// resident is the size of the process in bytes. FreeOSMemory does a full collection first, and then gives free
// memory back. The rest is in use.
func resident() (int, error) {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, pages int
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * os.Getpagesize(), nil
}
