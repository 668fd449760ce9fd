package main

import (
	"cmp"
	"math"
	"slices"
)

func init() { register("tsp", variants{"-": program(tsp)}) }

// Where each city is.
type cities [][2]int64

// Cities in the order in which they are visited. The last is followed by the first.
type tour []int

func tsp(j job) (func() uint64, error) {
	count, err := j.count("cities", 2)
	if err != nil {
		return nil, err
	}
	random := numbers(6)
	where := make(cities, count)
	for i := range where {
		where[i] = [2]int64{int64(random.below(1 << 20)), int64(random.below(1 << 20))}
	}
	return func() uint64 {
		all := make([]int, len(where))
		for city := range all {
			all[city] = city
		}
		out := make(chan tour)
		go where.tour(all, 0, out)
		return checksum(<-out)
	}, nil
}

// Through this many cities the shortest tour is found by trying all.
const tourFew = 8

func (c cities) tour(part []int, axis int, out chan<- tour) {
	if len(part) <= tourFew {
		out <- c.shortest(part)
		return
	}
	middle := len(part) / 2
	c.partition(part, middle, axis)
	left, right := make(chan tour), make(chan tour)
	go c.tour(part[:middle], 1-axis, left)
	go c.tour(part[middle:], 1-axis, right)
	first := <-left
	out <- c.join(axis, first, <-right)
}

// compare orders cities along an axis, and cities at the same place of it by their numbers.
func (c cities) compare(a, b, axis int) int {
	if order := cmp.Compare(c[a][axis], c[b][axis]); order != 0 {
		return order
	}
	return cmp.Compare(a, b)
}

// partition puts the least cities along an axis before the middle, by Hoare's algorithm.
func (c cities) partition(part []int, middle, axis int) {
	from, to := 0, len(part)-1
	for from < to {
		pivot := part[(from+to)/2]
		i, j := from, to
		for i <= j {
			for c.compare(part[i], pivot, axis) < 0 {
				i++
			}
			for c.compare(part[j], pivot, axis) > 0 {
				j--
			}
			if i <= j {
				part[i], part[j] = part[j], part[i]
				i++
				j--
			}
		}
		if middle <= j {
			to = j
		} else if middle >= i {
			from = i
		} else {
			return
		}
	}
}

func (c cities) square(a, b int) int64 {
	x, y := c[a][0]-c[b][0], c[a][1]-c[b][1]
	return x*x + y*y
}

func (c cities) distance(a, b int) float64 { return math.Sqrt(float64(c.square(a, b))) }

// The shortest tour through a few cities.
func (c cities) shortest(part []int) tour {
	slices.Sort(part)
	s := tourSearch{cities: len(part), least: math.Inf(1)}
	for i, a := range part {
		s.path[i] = i
		for j, b := range part {
			s.distances[i][j] = c.distance(a, b)
		}
	}
	s.extend(1, 0)
	found := make(tour, len(part))
	for i := range found {
		found[i] = part[s.best[i]]
	}
	return found
}

type tourSearch struct {
	distances  [tourFew][tourFew]float64
	path, best [tourFew]int
	cities     int
	least      float64
}

// extend tries all ways to go on from a path through the first visited cities.
func (s *tourSearch) extend(visited int, length float64) {
	last := s.path[visited-1]
	if visited == s.cities {
		if length += s.distances[last][s.path[0]]; length < s.least {
			s.least, s.best = length, s.path
		}
		return
	}
	for next := visited; next < s.cities; next++ {
		s.path[visited], s.path[next] = s.path[next], s.path[visited]
		if length := length + s.distances[last][s.path[visited]]; length < s.least {
			s.extend(visited+1, length)
		}
		s.path[visited], s.path[next] = s.path[next], s.path[visited]
	}
}

// join makes one tour of two that lie beside each other along an axis. Each is cut where they are close, on the one
// side or on the other, and the ends are joined: that one of the four ways which adds the least.
func (c cities) join(axis int, left, right tour) tour {
	// The left tour ends, and the right one begins, where they are close.
	near := 0
	for at, city := range left {
		if c.compare(city, left[near], axis) > 0 {
			near = at
		}
	}
	joined := append(append(make(tour, 0, len(left)+len(right)), left[near+1:]...), left[:near+1]...)
	end := left[near]
	near = 0
	for at, city := range right {
		if order := cmp.Compare(c.square(end, city), c.square(end, right[near])); order < 0 || order == 0 && city < right[near] {
			near = at
		}
	}
	joined = append(append(joined, right[near:]...), right[:near]...)
	left, right = joined[:len(left)], joined[len(left):]
	begin := right[0]

	// Without a turn, and with one.
	firsts := [2]int{left[0], left[len(left)-2]}
	lasts := [2]int{right[len(right)-1], right[1]}
	turnLeft, turnRight, least := 0, 0, math.Inf(1)
	for l, first := range firsts {
		for r, last := range lasts {
			cut := c.distance(end, first) + c.distance(begin, last)
			if added := c.distance(end, begin) + c.distance(last, first) - cut; added < least {
				turnLeft, turnRight, least = l, r, added
			}
		}
	}
	if turnLeft == 1 {
		slices.Reverse(left[:len(left)-1])
	}
	if turnRight == 1 {
		slices.Reverse(right[1:])
	}
	return joined
}
