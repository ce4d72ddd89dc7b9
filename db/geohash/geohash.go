// Package geohash turns places on earth into numbers that are near when the places are,
// and finds the ranges of numbers that cover a circle or a box, as Redis' geo commands
// do: the same bits, so that sorted sets of both can be mixed.
//
// A place is cut into cells: longitude from -180 to 180 and latitude from -85.05112878 to
// 85.05112878 (the limits of the Mercator projection), each in 2^26 parts. The bits of the two
// cell numbers, latitude's in the even positions, make 52 bits, which a float64 holds exactly:
// the score of a member. All cells that agree in their first 2n bits
// make a cell of step n, and are one range of scores.
package geohash

import "math"

const (
	maxStep = 26
	// MaxLon and MaxLat are the bounds of what can be encoded, in degrees.
	MaxLon = 180.0
	MaxLat = 85.05112878
)

// Valid reports whether a place can be encoded.
func Valid(lon, lat float64) bool {
	return lon >= -MaxLon && lon <= MaxLon && lat >= -MaxLat && lat <= MaxLat
}

// Encode returns the 52 bits of a place, which must be Valid. Latitude and longitude at
// their upper bounds count one cell too far, as in Redis: those are 53 bits.
func Encode(lon, lat float64) uint64 { return encode(lon, lat, MaxLat, maxStep).bits() }

// Decode returns the middle of a cell. Bits that no place has give a place at the
// border of what is valid.
func Decode(bits uint64) (lon, lat float64) {
	a := cellOf(bits, maxStep).area()
	lon, lat = (a.west+a.east)/2, (a.south+a.north)/2
	return clamp(lon, MaxLon), clamp(lat, MaxLat)
}

func clamp(x, limit float64) float64 { return max(min(x, limit), -limit) }

// FromScore returns the bits that a score holds. Scores that are none are read as x86
// processors convert them.
func FromScore(score float64) uint64 {
	switch {
	case score >= 1<<64 || score != score:
		return 0
	case score >= 1<<63:
		return uint64(score-1<<63) | 1<<63
	case score < -1<<63:
		return 1 << 63
	}
	return uint64(int64(score))
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// Append appends the usual text of a cell, 11 characters of base 32. That has latitudes
// from -90 to 90, and 55 bits, of which the last five are not known: they are 0.
func Append(dst []byte, bits uint64) []byte {
	lon, lat := Decode(bits)
	b := encode(lon, lat, 90, maxStep).bits()
	for shift := 47; shift >= 2; shift -= 5 {
		dst = append(dst, alphabet[b>>shift&31])
	}
	return append(dst, alphabet[0])
}

// cell is one of 2^step times 2^step.
type cell struct {
	x, y uint32 // from the west, from the south
	step int
}

func encode(lon, lat, maxLat float64, step int) cell {
	x := (lon + MaxLon) / (2 * MaxLon)
	y := (lat + maxLat) / (2 * maxLat)
	parts := float64(uint64(1) << step)
	return cell{uint32(x * parts), uint32(y * parts), step}
}

func cellOf(bits uint64, step int) cell { return cell{squeeze(bits >> 1), squeeze(bits), step} }

func (c cell) bits() uint64 { return spread(c.y) | spread(c.x)<<1 }

// move returns the cell some cells away. Behind the last comes the first, also from pole to
// pole, as in Redis.
func (c cell) move(dx, dy int) cell {
	mask := uint32(1)<<c.step - 1
	if dx != 0 {
		c.x = (c.x + uint32(dx)) & mask
	}
	if dy != 0 {
		c.y = (c.y + uint32(dy)) & mask
	}
	return c
}

// span is the range of scores in the cell: from low to before high.
func (c cell) span() Span {
	shift := 2 * (maxStep - c.step)
	return Span{float64(c.bits() << shift), float64((c.bits() + 1) << shift)}
}

// area is what the cell covers, in degrees.
type area struct{ west, east, south, north float64 }

func (c cell) area() area {
	parts := float64(uint64(1) << c.step)
	lon := func(x uint64) float64 { return -MaxLon + float64(float64(x)/parts*(2*MaxLon)) }
	lat := func(y uint64) float64 { return -MaxLat + float64(float64(y)/parts*(2*MaxLat)) }
	x, y := uint64(c.x), uint64(c.y)
	return area{lon(x), lon(x + 1), lat(y), lat(y + 1)}
}

// spread puts a zero in front of every bit, squeeze takes every other bit away.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

func squeeze(x uint64) uint32 {
	x &= 0x5555555555555555
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

const (
	earthRadius = 6372797.560856
	mercatorMax = 20037726.37 // metres, half of the equator in the projection
)

func radians(deg float64) float64 { return deg * (math.Pi / 180) }
func degrees(rad float64) float64 { return rad / (math.Pi / 180) }

// Distance returns the metres between two places on a sphere, by the haversine formula.
func Distance(lon1, lat1, lon2, lat2 float64) float64 {
	lat1, lat2 = radians(lat1), radians(lat2)
	u := sin((lat2 - lat1) / 2)
	v := sin((radians(lon2) - radians(lon1)) / 2)
	a := float64(u*u) + float64(cos(lat1)*cos(lat2)*v)*v
	return 2 * earthRadius * asin(math.Sqrt(a))
}
