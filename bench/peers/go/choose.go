package main

import "time"

func init() {
	register("choose", variants{
		"receive": choose(receiveChoosers, false),
		"both":    choose(bothChoosers, true),
		"timeout": choose(timeoutChoosers, false),
	})
}

// A chooser makes n choices among the channels and returns the sum of the values that it received.
type chooser func(channels []chan int, n int) int

// The choosers of one variant. A select statement has a fixed number of arms, so two numbers are written out.
// For any other number Go has reflect.Select only.
type choosers struct {
	two, eight, many chooser
}

func (c choosers) of(arms int) chooser {
	switch arms {
	case 2:
		return c.two
	case 8:
		return c.eight
	default:
		return c.many
	}
}

const timeout = 100 * time.Second

// choose runs a chooser against a partner that takes the arms in the order of armAt. With both, the chooser
// sends on the odd arms, and its message on an arm is the arm's number.
func choose(choosers choosers, both bool) workload {
	return func(j job) (*report, error) {
		arms, err := j.count("arms", 1)
		if err != nil {
			return nil, err
		}
		run := choosers.of(arms)
		return measure(j, func(n int) (span, error) {
			channels := make([]chan int, arms)
			for arm := range channels {
				channels[arm] = make(chan int)
			}
			partnerSum := make(chan int, 1)
			watch := start()
			go partner(channels, n, both, partnerSum)
			sum := run(channels, n)
			took := watch.stop()

			wantSum, wantPartnerSum := 0, 0
			for i := range n {
				if arm := armAt(i, arms); both && arm%2 == 1 {
					wantPartnerSum += arm
				} else {
					wantSum += i
				}
			}
			if err := expect("sum of the values chosen", sum, wantSum); err != nil {
				return took, err
			}
			return took, expect("sum of the values sent by choice", <-partnerSum, wantPartnerSum)
		}, nanosEach)
	}
}

func armAt(step, arms int) int { return (step*7919 + 3) % arms }

func partner(channels []chan int, n int, both bool, result chan<- int) {
	sum := 0
	for i := range n {
		if arm := armAt(i, len(channels)); both && arm%2 == 1 {
			sum += <-channels[arm]
		} else {
			channels[arm] <- i
		}
	}
	result <- sum
}
