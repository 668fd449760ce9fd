// The same program as src/pauses/work.rs, in Go: threads make garbage and replace objects of a table, and the longest time
// of each step is counted.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

type node struct {
	left, right *node
	_           [4]uint64
}

type link struct {
	number uint64
	next   *link
}

func number(index int) uint64 {
	n, err := strconv.ParseUint(os.Args[index], 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func main() {
	nodes, threads, seconds, percent := number(1), number(2), number(3), number(4)
	debug.SetGCPercent(int(percent))
	runtime.GOMAXPROCS(int(threads))
	each := nodes / threads
	var ready, done sync.WaitGroup
	ready.Add(int(threads))
	done.Add(int(threads))
	steps := make([][]uint64, threads)
	for me := uint64(0); me < threads; me++ {
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			table := make([]*node, each)
			for at := range table {
				table[at] = new(node)
			}
			ready.Done()
			ready.Wait()
			var longest [64]uint64
			begin := time.Now()
			last := begin
			random := 88172645463325252 + me
			for last.Sub(begin) < time.Duration(seconds)*time.Second {
				random ^= random << 13
				random ^= random >> 7
				random ^= random << 17
				var list *link
				for number := uint64(0); number < 20; number++ {
					list = &link{number, list}
				}
				runtime.KeepAlive(list)
				if random%8 == 0 {
					to, from := (random>>20)%each, (random>>40)%each
					table[to] = &node{left: table[from]}
					table[from] = nil
				}
				now := time.Now()
				bucket, took := 0, uint64(now.Sub(last))
				for took > 0 {
					bucket++
					took >>= 1
				}
				longest[bucket]++
				last = now
			}
			steps[me] = longest[:]
		}()
	}
	done.Wait()
	for bucket := 0; bucket < 64; bucket++ {
		sum := uint64(0)
		for _, longest := range steps {
			sum += longest[bucket]
		}
		fmt.Printf("%d ", sum)
	}
	fmt.Println()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", status)
}
