package main

import "math"

func init() {
	register("nbody", variants{"in-place": nbody((*planets).pullInPlace), "in-locals": nbody((*planets).pull)})
}

type planet struct {
	place vector
	mass  float64
}

type planets struct {
	all        []planet
	velocities []vector
}

const (
	nbodyTime = 0.001
	// softening keeps bodies that meet from flying off, and a body from attracting itself.
	softening = 0.01
)

func nbody(pull func(*planets, int)) workload {
	return func(j job) (*report, error) {
		count, err := j.count("bodies", 1)
		if err != nil {
			return nil, err
		}
		steps, err := j.count("steps", 1)
		if err != nil {
			return nil, err
		}
		random := numbers(1)
		next := func() float64 { return float64(random.below(1<<20)) / (1 << 20) }
		first := make([]planet, count)
		for i := range first {
			first[i].place = vector{next(), next(), next()}
			first[i].mass = next()
		}
		b := &planets{make([]planet, count), make([]vector, count)}
		return loopProgram{
			reset: func() {
				copy(b.all, first)
				clear(b.velocities)
			},
			run: func() {
				for range steps {
					inShares(j.workers, count, func(from, to int) {
						for nth := from; nth < to; nth++ {
							pull(b, nth)
						}
					})
					b.move()
				}
			},
			result: func() uint64 {
				var places []float64
				for _, planet := range b.all {
					places = append(places, planet.place[:]...)
				}
				return checksum(bitsOf(places))
			},
		}.measure(j)
	}
}

// pullInPlace changes the velocity of one in the array, for each of the others.
func (b *planets) pullInPlace(nth int) {
	velocity, place := &b.velocities[nth], &b.all[nth].place
	for i := range b.all {
		x, y, z := pulls(place, &b.all[i])
		velocity[0] -= x
		velocity[1] -= y
		velocity[2] -= z
	}
}

// pull has it in variables until all have pulled.
func (b *planets) pull(nth int) {
	velocity, place := b.velocities[nth], b.all[nth].place
	vx, vy, vz := velocity[0], velocity[1], velocity[2]
	for i := range b.all {
		x, y, z := pulls(&place, &b.all[i])
		vx -= x
		vy -= y
		vz -= z
	}
	b.velocities[nth] = vector{vx, vy, vz}
}

// The conversions keep a compiler from rounding less often than the other languages do.
func pulls(place *vector, other *planet) (float64, float64, float64) {
	x, y, z := place[0]-other.place[0], place[1]-other.place[1], place[2]-other.place[2]
	square := float64(x*x) + float64(y*y) + float64(z*z) + softening
	pull := nbodyTime / float64(square*math.Sqrt(square)) * other.mass
	return float64(x * pull), float64(y * pull), float64(z * pull)
}

// move is a two-thousandth of the work.
func (b *planets) move() {
	for i := range b.all {
		for axis := range 3 {
			b.all[i].place[axis] += float64(nbodyTime * b.velocities[i][axis])
		}
	}
}
