package main

// A path has the choices that lead to one possibility: each is run anew from its beginning.
type path struct {
	choices  [][2]int
	position int
}

// choose returns which of this many options to take now, and whether no run has taken it here before.
func (p *path) choose(options int) (int, bool) {
	if p.position == len(p.choices) {
		p.choices = append(p.choices, [2]int{0, options})
	}
	option := p.choices[p.position][0]
	p.position++
	return option, p.position >= len(p.choices)
}

// advance goes on to the next possibility: whether there is one.
func (p *path) advance() bool {
	p.position = 0
	for len(p.choices) > 0 {
		last := &p.choices[len(p.choices)-1]
		last[0]++
		if last[0] < last[1] {
			return true
		}
		p.choices = p.choices[:len(p.choices)-1]
	}
	return false
}

func search(body func(performer[int, int])) {
	var p path
	for more := true; more; more = p.advance() {
		handle(body, func(options int) int {
			option, _ := p.choose(options)
			return option
		})
	}
}

func isSafe(row int, before []int) bool {
	for i, other := range before {
		columns := len(before) - i
		if row == other || row == other+columns || row == other-columns {
			return false
		}
	}
	return true
}

func nqueens(n int) int {
	var place func(column int, rows []int, pick performer[int, int]) ([]int, bool)
	place = func(column int, rows []int, pick performer[int, int]) ([]int, bool) {
		if column == 0 {
			return rows, true
		}
		rows, ok := place(column-1, rows, pick)
		if !ok {
			return nil, false
		}
		row := pick(n) + 1
		return append(rows, row), isSafe(row, rows)
	}
	solutions := 0
	search(func(pick performer[int, int]) {
		if _, ok := place(n, make([]int, 0, n), pick); ok {
			solutions++
		}
	})
	return solutions
}

// choice is 0 where there is none.
func choice(n int, flip performer[int, int]) int {
	for n > 0 && flip(2) != 0 {
		n--
	}
	return n
}

func triples(n int) int {
	const modulus = 1_000_000_007
	sum := 0
	search(func(flip performer[int, int]) {
		i := choice(n, flip)
		j := choice(i-1, flip)
		k := choice(j-1, flip)
		if k > 0 && i+j+k == n {
			sum = (sum + (53*i+2809*j+148877*k)%modulus) % modulus
		}
	})
	return sum
}

func (t *halves) explore(state *int, turn performer[int, int]) int {
	if t == nil {
		return *state
	}
	turn(t.value)
	return operator(t.value, t.half.explore(state, turn))
}

func treeExplore(height int) int {
	tree, state := ofHeight(height), 0
	for range 10 {
		var p path
		greatest := 0
		for more := true; more; more = p.advance() {
			handle(func(turn performer[int, int]) {
				greatest = max(greatest, tree.explore(&state, turn))
			}, func(value int) int {
				option, isNew := p.choose(2)
				if isNew {
					state = operator(state, value)
				}
				return option
			})
		}
		state = greatest
	}
	return state
}
