package main

import (
	"reflect"
	"time"
)

// reflect.Select takes a list of cases. The list is built once and kept from choice to choice: building it is
// most of the cost otherwise. (A goroutine for each channel that forwards into a single one would be faster, and
// would be no choice: it takes values from the channels that are not chosen.)

func receiveOfMany(c []chan int, n int) int {
	cases := receiveCases(c)
	sum := 0
	for range n {
		_, v, _ := reflect.Select(cases)
		sum += int(v.Int())
	}
	return sum
}

func bothOfMany(c []chan int, n int) int {
	cases := receiveCases(c)
	for arm := 1; arm < len(cases); arm += 2 {
		cases[arm].Dir = reflect.SelectSend
		cases[arm].Send = reflect.ValueOf(arm)
	}
	sum := 0
	for range n {
		if arm, v, _ := reflect.Select(cases); arm%2 == 0 {
			sum += int(v.Int())
		}
	}
	return sum
}

func timeoutOfMany(c []chan int, n int) int {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	expired := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timer.C)}
	cases := append(receiveCases(c), expired)
	sum := 0
	for range n {
		timer.Reset(timeout)
		arm, v, _ := reflect.Select(cases)
		if arm == len(c) {
			return sum
		}
		sum += int(v.Int())
	}
	return sum
}

func receiveCases(c []chan int) []reflect.SelectCase {
	cases := make([]reflect.SelectCase, len(c), len(c)+1)
	for arm := range c {
		cases[arm] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c[arm])}
	}
	return cases
}
