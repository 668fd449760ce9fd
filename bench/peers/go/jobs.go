package main

import "sync"

func init() { register("jobs", variants{"-": jobs}) }

// Tasks of unequal length: a goroutine for each, which puts its result where it is found when all have ended.
func jobs(j job) (*report, error) {
	count, err := j.count("jobs", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	type task struct {
		number uint64
		steps  int
	}
	all := make([]task, count)
	random := numbers(1)
	for i := range all {
		number := uint64(random.next())
		all[i] = task{number, steps/2 + int(random.below(uint32(steps)+1))}
	}
	results := make([]uint64, count)
	return loopProgram{
		run: func() {
			var group sync.WaitGroup
			for i, task := range all {
				group.Go(func() {
					number := task.number
					for range task.steps {
						number = (number ^ number>>33) * 0xff51afd7ed558ccd
					}
					results[i] = number
				})
			}
			group.Wait()
		},
		result: func() uint64 { return checksum(results) },
	}.measure(j)
}
