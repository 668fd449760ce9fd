package main

import (
	"iter"
	"runtime"
	"time"
)

// byPull tells whether iter.Pull runs a computation, rather than a goroutine with two channels.
var byPull bool

// An asking computation asks, and goes on with the answer.
type asking[Q, A any] struct {
	question  Q
	answer    A
	questions chan Q
	answers   chan A
	pulled    func() (struct{}, bool)
	stop      func()
}

type performer[Q, A any] func(Q) A

// dropped is the payload that unwinds a computation that is not answered.
type dropped struct{}

func begin[Q, A any](body func(performer[Q, A])) *asking[Q, A] {
	if byPull {
		return beginPulled(body)
	}
	a := &asking[Q, A]{questions: make(chan Q), answers: make(chan A)}
	go func() {
		defer close(a.questions)
		answer := func() A {
			given, ok := <-a.answers
			if !ok {
				runtime.Goexit()
			}
			return given
		}
		answer()
		body(func(question Q) A {
			a.questions <- question
			return answer()
		})
	}()
	return a
}

// iter.Pull passes one way only. The answer is left in a variable, which the two sides use in turn.
func beginPulled[Q, A any](body func(performer[Q, A])) *asking[Q, A] {
	a := &asking[Q, A]{}
	a.pulled, a.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if why := recover(); why != nil {
				if _, ok := why.(dropped); !ok {
					panic(why)
				}
			}
		}()
		body(func(question Q) A {
			a.question = question
			if !yield(struct{}{}) {
				panic(dropped{})
			}
			return a.answer
		})
	})
	return a
}

// resume lets it go on until it asks or ends: whether it asks.
func (a *asking[Q, A]) resume(answer A) bool {
	if byPull {
		a.answer = answer
		_, asks := a.pulled()
		return asks
	}
	a.answers <- answer
	question, asks := <-a.questions
	a.question = question
	return asks
}

// drop unwinds a computation that has asked.
func (a *asking[Q, A]) drop() {
	if byPull {
		a.stop()
		return
	}
	close(a.answers)
	<-a.questions
}

// handle runs body and answers all that it asks.
func handle[Q, A any](body func(performer[Q, A]), clause func(Q) A) {
	a := begin(body)
	var none A
	for asks := a.resume(none); asks; {
		asks = a.resume(clause(a.question))
	}
}

func init() {
	register("effect-perform", variants{"resume": effectPerform})
	register("effect-create", variants{"-": effectCreate})
	register("effect-suspended", variants{"-": effectSuspended})
	register("effect-generator", variants{"-": effectGenerator})
}

func effectPerform(j job) (*report, error) {
	return measure(j, func(n int) (span, error) {
		var took span
		sum := 0
		handle(func(perform performer[int, int]) {
			watch := start()
			for number := range n {
				sum += perform(number)
			}
			took = watch.stop()
		}, func(number int) int { return number + 1 })
		return took, expect("the sum of the answers", sum, n*(n+1)/2)
	}, nanosEach)
}

func effectCreate(j job) (*report, error) {
	return measure(j, func(n int) (span, error) {
		sum := 0
		watch := start()
		for number := range n {
			if byPull {
				next, _ := iter.Pull(func(func(struct{}) bool) { sum += number + 1 })
				next()
			} else {
				result := make(chan int)
				go func() { result <- number + 1 }()
				sum += <-result
			}
		}
		return watch.stop(), expect("the sum", sum, n*(n+1)/2)
	}, nanosEach)
}

func effectSuspended(j job) (*report, error) {
	count, err := j.count("continuations", 1)
	if err != nil {
		return nil, err
	}
	var grown int
	keep := func(count int) error {
		all := make([]*asking[int, int], count)
		sum := 0
		before, err := resident()
		if err != nil {
			return err
		}
		for number := range all {
			all[number] = begin(func(perform performer[int, int]) {
				answer := perform(number)
				sum += answer + 1
			})
			all[number].resume(0)
		}
		after, err := resident()
		if err != nil {
			return err
		}
		grown = after - before
		for number, one := range all {
			one.resume(number)
		}
		return expect("the sum of the answers", sum, count*(count+1)/2)
	}
	if err := keep((count + 99) / 100); err != nil {
		return nil, err
	}
	watch := start()
	if err := keep(count); err != nil {
		return nil, err
	}
	m := measured{count, watch.stop()}
	return m.report(figure{Value: float64(grown) / float64(count)}), nil
}

type node struct {
	left  *node
	value int
	right *node
}

// balanced is a tree of this many numbers in order, from first on.
func balanced(first, count int) *node {
	if count == 0 {
		return nil
	}
	before := (count - 1) / 2
	return &node{
		balanced(first, before),
		first + before,
		balanced(first+before+1, count-1-before),
	}
}

func (n *node) walk(visit func(int)) {
	if n != nil {
		n.left.walk(visit)
		visit(n.value)
		n.right.walk(visit)
	}
}

func (n *node) each(yield func(int) bool) bool {
	return n == nil || n.left.each(yield) && yield(n.value) && n.right.each(yield)
}

func (n *node) sum() int {
	sum := 0
	if byPull {
		next, stop := iter.Pull(func(yield func(int) bool) { n.each(yield) })
		defer stop()
		for value, ok := next(); ok; value, ok = next() {
			sum += value
		}
		return sum
	}
	values := make(chan int)
	go func() {
		n.walk(func(value int) { values <- value })
		close(values)
	}()
	for value := range values {
		sum += value
	}
	return sum
}

func effectGenerator(j job) (*report, error) {
	nodes, err := j.count("nodes", 100)
	if err != nil {
		return nil, err
	}
	tree := balanced(1, nodes)
	balanced(1, nodes/100).sum()
	var m measured
	for m.operations == 0 || m.elapsed < j.atLeast {
		watch := start()
		sum := tree.sum()
		took := watch.stop()
		m.operations++
		m.elapsed += took.elapsed
		m.cpu += took.cpu
		if err := expect("the sum of the tree", sum, nodes*(nodes+1)/2); err != nil {
			return nil, err
		}
	}
	return m.report(figure{Value: nanosEach(m) / float64(nodes)}), nil
}

// measureProgram measures the program that the variant names: its result is the checksum.
func measureProgram(j job, run func(int) int) (*report, error) {
	n, err := j.count("n", 1)
	if err != nil {
		return nil, err
	}
	warm := max(2, n-4)
	if n > 100 {
		warm = n / 10
	}
	run(warm)
	var m measured
	var result int
	for m.operations == 0 || m.elapsed < j.atLeast {
		watch := start()
		result = run(n)
		took := watch.stop()
		m.operations++
		m.elapsed += took.elapsed
		m.cpu += took.cpu
	}
	milliseconds := float64(m.elapsed) / float64(time.Millisecond) / float64(m.operations)
	report := m.report(figure{Value: milliseconds})
	checksum := uint64(result)
	report.Checksum = &checksum
	return report, nil
}
