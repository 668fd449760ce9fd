package main

import "math"

func init() { register("barnes-hut", variants{"-": program(barnesHut)}) }

type vector [3]float64

type star struct{ position, velocity vector }

type pull struct {
	body int
	sum  vector
}

func barnesHut(j job) (func() uint64, error) {
	count, err := j.count("bodies", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	random := numbers(3)
	first := make([]star, count)
	for i := range first {
		for axis := range first[i].position {
			first[i].position[axis] = float64(random.next()) / 4294967296
		}
	}
	return func() uint64 {
		bodies := first
		for range steps {
			now := newSky(bodies)
			pulls := make(chan pull)
			for i := range bodies {
				go func() { pulls <- pull{i, now.pull(i)} }()
			}
			moved := append([]star(nil), bodies...)
			for range bodies {
				p := <-pulls
				moved[p.body].accelerate(p.sum)
			}
			bodies = moved
		}
		var places []uint64
		for i := range bodies {
			for _, at := range bodies[i].position {
				places = append(places, math.Float64bits(at))
			}
		}
		return checksum(places)
	}, nil
}

const (
	// This many bodies are not divided any further.
	skyFew = 8
	// Bodies are pulled by a cube as a whole if the square of its side is less than this part of their squared distance.
	skyFar       = 0.25
	skySoftening = 1e-4
	skyStep      = 1e-4
)

// The conversions here and below keep a compiler from rounding less often than the other languages do.
func (b *star) accelerate(by vector) {
	for axis := range by {
		b.velocity[axis] += float64(by[axis] * skyStep)
		b.position[axis] += float64(b.velocity[axis] * skyStep)
	}
}

// The bodies of one moment, in cubes that are divided in eight until there are few in each.
type sky struct {
	bodies []star
	root   cube
}

// A cube has either bodies or cubes. Each body has a mass of one.
type cube struct {
	side, mass   float64
	centerOfMass vector
	bodies       []int
	cubes        []cube
}

func newSky(bodies []star) *sky {
	side := 1.0
	all := make([]int, len(bodies))
	for i := range bodies {
		all[i] = i
		for _, at := range bodies[i].position {
			side = max(side, 2*math.Abs(at))
		}
	}
	return &sky{bodies, newCube(bodies, all, vector{}, 2*side)}
}

func newCube(bodies []star, members []int, center vector, side float64) cube {
	c := cube{side: side, mass: float64(len(members))}
	for _, member := range members {
		for axis, at := range bodies[member].position {
			c.centerOfMass[axis] += at
		}
	}
	for axis := range c.centerOfMass {
		c.centerOfMass[axis] /= c.mass
	}
	if len(members) <= skyFew {
		c.bodies = members
		return c
	}
	var eighths [8][]int
	for _, member := range members {
		eighth := 0
		for axis, at := range bodies[member].position {
			if at > center[axis] {
				eighth |= 1 << axis
			}
		}
		eighths[eighth] = append(eighths[eighth], member)
	}
	for eighth, members := range eighths {
		if len(members) > 0 {
			middle := center
			for axis := range middle {
				if eighth>>axis&1 == 1 {
					middle[axis] += side / 4
				} else {
					middle[axis] -= side / 4
				}
			}
			c.cubes = append(c.cubes, newCube(bodies, members, middle, side/2))
		}
	}
	return c
}

// How all others pull this body.
func (s *sky) pull(body int) vector {
	var sum vector
	s.add(&s.root, body, &sum)
	return sum
}

func (s *sky) add(c *cube, body int, sum *vector) {
	position := &s.bodies[body].position
	towards, square := way(position, &c.centerOfMass)
	if c.side*c.side < skyFar*square {
		attract(sum, c.mass, &towards, square)
		return
	}
	for i := range c.cubes {
		s.add(&c.cubes[i], body, sum)
	}
	for _, other := range c.bodies {
		if other != body {
			towards, square := way(position, &s.bodies[other].position)
			attract(sum, 1, &towards, square)
		}
	}
}

// The way from one to the other, and the square of its length.
func way(from, to *vector) (vector, float64) {
	x, y, z := to[0]-from[0], to[1]-from[1], to[2]-from[2]
	return vector{x, y, z}, float64(x*x) + float64(y*y) + float64(z*z) + skySoftening
}

func attract(sum *vector, mass float64, towards *vector, square float64) {
	strength := mass / float64(square*math.Sqrt(square))
	for axis := range sum {
		sum[axis] += float64(towards[axis] * strength)
	}
}
