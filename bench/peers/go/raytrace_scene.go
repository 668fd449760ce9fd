package main

import "math"

// The scene of raytrace: balls over a chequered floor, and one lamp. Each operation is done in the order of the
// Rust program. The conversions keep a compiler from rounding less often than that one's does.

const (
	bounces = 4
	skin    = 1e-6
	horizon = 1e4
)

var lamp = vec3{-5, 9, -6}

type vec3 struct{ x, y, z float64 }

func (v vec3) add(w vec3) vec3 { return vec3{v.x + w.x, v.y + w.y, v.z + w.z} }

func (v vec3) sub(w vec3) vec3 { return vec3{v.x - w.x, v.y - w.y, v.z - w.z} }

func (v vec3) times(by float64) vec3 {
	return vec3{float64(v.x * by), float64(v.y * by), float64(v.z * by)}
}

func (v vec3) dot(w vec3) float64 {
	return float64(v.x*w.x) + float64(v.y*w.y) + float64(v.z*w.z)
}

func (v vec3) unit() vec3 { return v.times(1 / math.Sqrt(v.dot(v))) }

type surface struct {
	colour vec3
	mirror float64
}

type ball struct {
	centre vec3
	radius float64
	surface
}

type hit struct {
	point, normal vec3
	surface
}

type scene []ball

func newScene() scene {
	var s scene
	for nth := range 20 {
		i, k := nth%5, nth/5
		radius := 0.4 + float64(0.1*float64((i+k)%3))
		height := radius + float64(0.5*float64(i*k%3))
		s = append(s, ball{
			centre: vec3{1.5 * float64(i-2), height, float64(1.5*float64(k)) - 2},
			radius: radius,
			surface: surface{
				colour: vec3{
					0.2 + float64(0.2*float64(i)),
					0.2 + float64(0.2*float64(k)),
					1 - float64(0.2*float64((i+k)%5)),
				},
				mirror: 0.25 * float64((i+2*k)%3),
			},
		})
	}
	return s
}

// distance is how far along the ray the ball is hit.
func (b *ball) distance(from, along vec3) (float64, bool) {
	offset := from.sub(b.centre)
	p := offset.dot(along)
	inside := float64(p*p) - (offset.dot(offset) - float64(b.radius*b.radius))
	if inside < 0 {
		return 0, false
	}
	root := math.Sqrt(inside)
	if near := -p - root; near > skin {
		return near, true
	}
	far := -p + root
	return far, far > skin
}

func (s scene) colour(from, along vec3) vec3 {
	var colour vec3
	share := 1.0
	for range bounces {
		h, ok := s.hit(from, along)
		if !ok {
			return colour.add(skyLight(along).times(share))
		}
		light := 0.1 + float64(0.9*s.lampLight(h))
		colour = colour.add(h.colour.times(float64(float64(share*(1-h.mirror)) * light)))
		share = float64(share * h.mirror)
		if share < 0.01 {
			break
		}
		from = h.point
		along = along.sub(h.normal.times(2 * along.dot(h.normal)))
	}
	return colour
}

func (s scene) hit(from, along vec3) (hit, bool) {
	nearest := horizon
	var found *ball
	for i := range s {
		if distance, ok := s[i].distance(from, along); ok && distance < nearest {
			nearest = distance
			found = &s[i]
		}
	}
	if floor := -from.y / along.y; floor > skin && floor < nearest {
		return onFloor(from.add(along.times(floor))), true
	}
	if found == nil {
		return hit{}, false
	}
	point := from.add(along.times(nearest))
	normal := point.sub(found.centre).times(1 / found.radius)
	return hit{point, normal, found.surface}, true
}

// lampLight is how much of the lamp's light a point gets: none in the shadow.
func (s scene) lampLight(h hit) float64 {
	towards := lamp.sub(h.point)
	along := towards.unit()
	straight := along.dot(h.normal)
	if straight <= 0 {
		return 0
	}
	far := towards.dot(along)
	for i := range s {
		if distance, ok := s[i].distance(h.point, along); ok && distance < far {
			return 0
		}
	}
	return straight
}

func onFloor(point vec3) hit {
	tile := func(place float64) int64 { return int64(place + 1024) }
	light := 0.3
	if (tile(point.x)+tile(point.z))%2 == 0 {
		light = 0.9
	}
	return hit{point, vec3{0, 1, 0}, surface{vec3{light, light, light}, 0.25}}
}

func skyLight(along vec3) vec3 {
	height := float64(0.5 * (along.y + 1))
	return vec3{1, 1, 1}.times(1 - height).add(vec3{0.4, 0.6, 1}.times(height))
}
