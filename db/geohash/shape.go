package geohash

import "math"

// Shape is a circle around a place, or a box with the place in its middle, in metres.
type Shape struct {
	Lon, Lat      float64
	Radius        float64
	Width, Height float64 // of a box
	Box           bool
}

// Span is a range of scores: from Low to before High.
type Span struct{ Low, High float64 }

// Contains returns how far a place is from the middle, and whether it is within the shape.
func (s *Shape) Contains(lon, lat float64) (metres float64, inside bool) {
	if s.Box {
		if Distance(lon, lat, s.Lon, lat) > s.Width/2 || Distance(lon, lat, lon, s.Lat) > s.Height/2 {
			return 0, false
		}
		return Distance(s.Lon, s.Lat, lon, lat), true
	}
	metres = Distance(s.Lon, s.Lat, lon, lat)
	return metres, metres <= s.Radius
}

// Spans appends the ranges of scores in which the places within the shape are, with others.
// They are up to nine cells: the one of the middle and those around it that are needed,
// in this order: middle, north, south, east, west, then the corners. Cells are
// about as large as the shape; where a cell comes twice, as they do
// when they are half the earth, it is left out.
func (s *Shape) Spans(dst []Span) []Span {
	b := s.bounds()
	middle := encode(s.Lon, s.Lat, MaxLat, s.step())
	if middle.step > 1 && !middle.reaches(b) {
		middle = encode(s.Lon, s.Lat, MaxLat, middle.step-1)
	}
	a := middle.area()
	useless := func(dx, dy int) bool {
		return middle.step >= 2 && (dy < 0 && a.south < b.south || dy > 0 && a.north > b.north ||
			dx < 0 && a.west < b.west || dx > 0 && a.east > b.east)
	}
	var last cell
	for i, d := range around {
		c := middle.move(d[0], d[1])
		if useless(d[0], d[1]) || i > 0 && c == last {
			continue
		}
		dst = append(dst, c.span())
		last = c
	}
	return dst
}

// around are the ways to the cells of Spans, in order.
var around = [9][2]int{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}

// reaches reports whether the cells around c cover b.
func (c cell) reaches(b area) bool {
	return c.move(0, 1).area().north >= b.north && c.move(0, -1).area().south <= b.south &&
		c.move(1, 0).area().east >= b.east && c.move(-1, 0).area().west <= b.west
}

// bounds returns degrees between which the shape is.
func (s *Shape) bounds() area {
	w, h := s.Radius, s.Radius
	if s.Box {
		w, h = s.Width/2, s.Height/2
	}
	dy := degrees(h / earthRadius)
	side := s.Lat + dy // where a degree of longitude is shorter
	if s.Lat < 0 {
		side = s.Lat - dy
	}
	dx := degrees(w / earthRadius / math.Cos(radians(side)))
	return area{s.Lon - dx, s.Lon + dx, s.Lat - dy, s.Lat + dy}
}

// step returns the step at which cells are about as large as the shape, less near the
// poles, where they are narrow.
func (s *Shape) step() int {
	radius := s.Radius
	if s.Box {
		radius = math.Sqrt(s.Width/2*(s.Width/2) + s.Height/2*(s.Height/2))
	}
	if radius == 0 {
		return maxStep
	}
	n := 1
	for ; radius < mercatorMax; radius *= 2 {
		n++
	}
	n -= 2
	if lat := math.Abs(s.Lat); lat > 80 {
		n -= 2
	} else if lat > 66 {
		n--
	}
	return min(max(n, 1), maxStep)
}
