package main

import "time"

// The select statement is Go's choice. The channels are local variables, so that an arm is a load from the
// stack.

func receiveOfTwo(c []chan int, n int) int {
	c0, c1 := c[0], c[1]
	sum := 0
	for range n {
		select {
		case v := <-c0:
			sum += v
		case v := <-c1:
			sum += v
		}
	}
	return sum
}

func receiveOfEight(c []chan int, n int) int {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	sum := 0
	for range n {
		select {
		case v := <-c0:
			sum += v
		case v := <-c1:
			sum += v
		case v := <-c2:
			sum += v
		case v := <-c3:
			sum += v
		case v := <-c4:
			sum += v
		case v := <-c5:
			sum += v
		case v := <-c6:
			sum += v
		case v := <-c7:
			sum += v
		}
	}
	return sum
}

func bothOfTwo(c []chan int, n int) int {
	c0, c1 := c[0], c[1]
	sum := 0
	for range n {
		select {
		case v := <-c0:
			sum += v
		case c1 <- 1:
		}
	}
	return sum
}

func bothOfEight(c []chan int, n int) int {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	sum := 0
	for range n {
		select {
		case v := <-c0:
			sum += v
		case c1 <- 1:
		case v := <-c2:
			sum += v
		case c3 <- 3:
		case v := <-c4:
			sum += v
		case c5 <- 5:
		case v := <-c6:
			sum += v
		case c7 <- 7:
		}
	}
	return sum
}

// One timer that is set again for each choice: time.After would allocate a new one each time. Since Go 1.23 a
// timer may be reset without being stopped and drained first. A choice that times out ends the run, and the sum
// is wrong.
func timeoutOfTwo(c []chan int, n int) int {
	c0, c1 := c[0], c[1]
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	sum := 0
	for range n {
		timer.Reset(timeout)
		select {
		case v := <-c0:
			sum += v
		case v := <-c1:
			sum += v
		case <-timer.C:
			return sum
		}
	}
	return sum
}

func timeoutOfEight(c []chan int, n int) int {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	sum := 0
	for range n {
		timer.Reset(timeout)
		select {
		case v := <-c0:
			sum += v
		case v := <-c1:
			sum += v
		case v := <-c2:
			sum += v
		case v := <-c3:
			sum += v
		case v := <-c4:
			sum += v
		case v := <-c5:
			sum += v
		case v := <-c6:
			sum += v
		case v := <-c7:
			sum += v
		case <-timer.C:
			return sum
		}
	}
	return sum
}

var (
	receiveChoosers = choosers{receiveOfTwo, receiveOfEight, receiveOfMany}
	bothChoosers    = choosers{bothOfTwo, bothOfEight, bothOfMany}
	timeoutChoosers = choosers{timeoutOfTwo, timeoutOfEight, timeoutOfMany}
)
