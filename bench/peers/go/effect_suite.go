package main

func init() {
	programs := map[string]func(int) int{
		"chameneos":           chameneos,
		"countdown":           countdown,
		"fibonacci-recursive": handledFibonacci,
		"generator":           generator,
		"handler-sieve":       handlerSieve,
		"iterator":            iterator,
		"nqueens":             nqueens,
		"parsing-dollars":     parsingDollars,
		"product-early":       productEarly,
		"resume-nontail":      resumeNontail,
		"tree-explore":        treeExplore,
		"triples":             triples,
	}
	all := variants{}
	for name, run := range programs {
		all[name] = func(j job) (*report, error) { return measureProgram(j, run) }
	}
	register("effect-suite", all)
}

// state asks for the state, or sets it.
type state struct {
	set   bool
	value int
}

func countdown(n int) int {
	held, last := n, n
	handle(func(perform performer[state, int]) {
		for last = perform(state{}); last != 0; last = perform(state{}) {
			perform(state{true, last - 1})
		}
	}, func(s state) int {
		if s.set {
			held = s.value
		}
		return held
	})
	return last
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func handledFibonacci(n int) int {
	result := 0
	handle(func(performer[int, int]) { result = fibonacci(n) }, func(int) int { return 0 })
	return result
}

func iterator(n int) int {
	sum := 0
	handle(func(emit performer[int, struct{}]) {
		for number := range n + 1 {
			emit(number)
		}
	}, func(number int) struct{} {
		sum += number
		return struct{}{}
	})
	return sum
}

// halves is the tree of the suite, whose halves are one and the same.
type halves struct {
	half  *halves
	value int
}

func ofHeight(height int) *halves {
	if height == 0 {
		return nil
	}
	return &halves{ofHeight(height - 1), height}
}

func (t *halves) walk(emit performer[int, struct{}]) {
	if t != nil {
		t.half.walk(emit)
		emit(t.value)
		t.half.walk(emit)
	}
}

func generator(height int) int {
	tree, sum := ofHeight(height), 0
	handle(tree.walk, func(value int) struct{} {
		sum += value
		return struct{}{}
	})
	return sum
}

// primes asks the handler of the prime before.
func primes(next, n, sum int, isPrime performer[int, bool]) int {
	for next < n && !isPrime(next) {
		next++
	}
	if next >= n {
		return sum
	}
	result := 0
	handle(func(perform performer[int, bool]) {
		result = primes(next+1, n, sum+next, perform)
	}, func(number int) bool { return number%next != 0 && isPrime(number) })
	return result
}

func handlerSieve(n int) int {
	result := 0
	handle(func(perform performer[int, bool]) {
		result = primes(2, n, 0, perform)
	}, func(int) bool { return true })
	return result
}

func product(list []int, done performer[int, int]) int {
	if list[0] == 0 {
		return done(0)
	}
	return list[0] * product(list[1:], done)
}

// The computation asks with its result, and is dropped.
func productEarly(n int) int {
	list := make([]int, 1001)
	for i := range list {
		list[i] = 1000 - i
	}
	sum := 0
	for range n {
		a := begin(func(done performer[int, int]) { sum += product(list, done) })
		if a.resume(0) {
			sum += a.question
			a.drop()
		}
	}
	return sum
}

const (
	newline = 10
	dollar  = 36
)

type parsing struct {
	emit    bool
	dollars int
}

func parse(perform performer[parsing, int]) {
	dollars := 0
	for {
		switch perform(parsing{}) {
		case dollar:
			dollars++
		case newline:
			perform(parsing{true, dollars})
			dollars = 0
		default:
			return
		}
	}
}

func feed(n int, emit performer[int, struct{}]) {
	line, left := 0, 0
	a := begin(parse)
	for asks := a.resume(0); asks; {
		switch {
		case a.question.emit:
			emit(a.question.dollars)
			asks = a.resume(0)
		case line > n:
			a.drop()
			return
		case left == 0:
			line++
			left = line
			asks = a.resume(newline)
		default:
			left--
			asks = a.resume(dollar)
		}
	}
}

func parsingDollars(n int) int {
	sum := 0
	handle(func(emit performer[int, struct{}]) { feed(n, emit) }, func(dollars int) struct{} {
		sum += dollars
		return struct{}{}
	})
	return sum
}

func operator(x, y int) int {
	value := x - 503*y + 37
	return max(value, -value) % 1009
}

func resumeNontail(n int) int {
	var answer func(a *asking[int, struct{}], seed int) int
	answer = func(a *asking[int, struct{}], seed int) int {
		if !a.resume(struct{}{}) {
			return seed
		}
		x := a.question
		return operator(x, answer(a, seed))
	}
	seed := 0
	for range 1000 {
		seed = answer(begin(func(perform performer[int, struct{}]) {
			for x := n; x > 0; x-- {
				perform(x)
			}
		}), seed)
	}
	return seed
}

// chameneos: a colour is 0, 1 or 2; a creature meets nobody when there are no more meetings.
const nobody = 3

func changed(own, other int) int {
	if own == other {
		return own
	}
	return 3 - own - other
}

type creature = asking[int, int]

type arrival struct {
	who   *creature
	other int
}

func chameneos(n int) int {
	sum, left := 0, n
	var waiting *creature
	var ready []arrival
	for _, colour := range []int{0, 1, 2, 1, 2, 0, 1, 2, 1, 0} {
		who := begin(func(meet performer[int, int]) {
			for other := meet(colour); other != nobody; other = meet(colour) {
				colour = changed(colour, other)
				sum++
			}
		})
		ready = append(ready, arrival{who, nobody})
	}
	for len(ready) > 0 || waiting != nil {
		if len(ready) == 0 {
			left = 0
			ready = append(ready, arrival{waiting, nobody})
			waiting = nil
		}
		next := ready[0]
		ready = ready[1:]
		who := next.who
		switch {
		case !who.resume(next.other):
		case left == 0:
			ready = append(ready, arrival{who, nobody})
		case waiting == nil:
			waiting = who
		default:
			left--
			ready = append(ready, arrival{waiting, who.question}, arrival{who, waiting.question})
			waiting = nil
		}
	}
	return sum
}
