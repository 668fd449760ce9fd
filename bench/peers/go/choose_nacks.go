package main

import "fmt"

func init() {
	register("choose-nacks", variants{"-": chooseNacks})
}

// A request tells when its round is over, as a context does: by a channel that is closed then. All servers share
// the round's channel, since the one whose answer was taken does not look at it any more.
type request struct {
	number int
	over   <-chan struct{}
}

// Counts says how often a server's answer was taken, and how often not.
type counts struct{ taken, lost int }

func serveRequests(requests <-chan request, answers chan<- int, result chan<- counts) {
	var c counts
	for r := range requests {
		select {
		case answers <- r.number:
			c.taken++
		case <-r.over:
			c.lost++
		}
	}
	result <- c
}

func chooseNacks(j job) (*report, error) {
	servers, err := j.count("servers", 2)
	if err != nil {
		return nil, err
	}
	take := map[int]func([]chan int) int{2: takeOfTwo, 8: takeOfEight}[servers]
	if take == nil {
		return nil, fmt.Errorf("a choice among %d servers: %w", servers, errUnsupported)
	}
	return measure(j, func(n int) (span, error) {
		requests := make([]chan request, servers)
		answers := make([]chan int, servers)
		results := make(chan counts, servers)
		for i := range servers {
			requests[i], answers[i] = make(chan request), make(chan int)
			go serveRequests(requests[i], answers[i], results)
		}
		watch := start()
		sum := 0
		for number := range n {
			over := make(chan struct{})
			for _, server := range requests {
				server <- request{number, over}
			}
			sum += take(answers)
			close(over)
		}
		var all counts
		for _, server := range requests {
			close(server)
		}
		for range servers {
			c := <-results
			all.taken += c.taken
			all.lost += c.lost
		}
		took := watch.stop()

		if err := expect("sum of the answers", sum, sumBelow(n)); err != nil {
			return took, err
		}
		if want := (counts{n, n * (servers - 1)}); all != want {
			return took, fmt.Errorf("what the servers have learnt: got %v, want %v", all, want)
		}
		return took, nil
	}, nanosEach)
}

func takeOfTwo(c []chan int) int {
	select {
	case v := <-c[0]:
		return v
	case v := <-c[1]:
		return v
	}
}

func takeOfEight(c []chan int) int {
	select {
	case v := <-c[0]:
		return v
	case v := <-c[1]:
		return v
	case v := <-c[2]:
		return v
	case v := <-c[3]:
		return v
	case v := <-c[4]:
		return v
	case v := <-c[5]:
		return v
	case v := <-c[6]:
		return v
	case v := <-c[7]:
		return v
	}
}
