package main

import (
	"os"
	"sync"
	"sync/atomic"
)

func init() {
	register("stat", variants{"-": stat})
}

const statSize = 4321

// A system call is made in place. If it lasts, the runtime gives the goroutine's processor to another thread.
func stat(j job) (*report, error) {
	tasks, err := j.count("tasks", 1)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "stat")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(make([]byte, statSize)); err != nil {
		return nil, err
	}
	return measure(j, func(n int) (span, error) {
		var sum atomic.Int64
		var failed atomic.Pointer[error]
		var asking sync.WaitGroup
		watch := start()
		for task := range tasks {
			times := n / tasks
			if task < n%tasks {
				times++
			}
			asking.Go(func() {
				var own int64
				for range times {
					info, err := os.Stat(file.Name())
					if err != nil {
						failed.Store(&err)
						return
					}
					own += info.Size()
				}
				sum.Add(own)
			})
		}
		asking.Wait()
		took := watch.stop()
		if err := failed.Load(); err != nil {
			return span{}, *err
		}
		return took, expect("the sum of the sizes", int(sum.Load()), n*statSize)
	}, nanosEach)
}
