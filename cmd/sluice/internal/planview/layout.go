package planview

import (
	"cmp"
	"math"
	"slices"
)

// spot is a place in a layout: that of a box, or of an arrow that passes a layer. x is its middle, y its top; floor is
// where its layer ends, from where on an arrow may leave its column.
type spot struct {
	box           int // −1 for an arrow that passes
	layer         int
	width, height float64
	x, y, floor   float64
	up, down      []*spot // what it is joined with in the layers before and behind
}

// layout gives every box a place. Boxes stand in layers, each below all that it reads, and none covers another. An
// arrow over several layers passes those between through a gap of its own, so that it crosses no box.
type layout struct {
	layers        [][]*spot
	paths         [][]*spot // of the arrows, from box to box
	width, height float64
}

// The distances between spots of a layer and between layers, and the rounds in which the layout is made better.
const (
	gapAcross = 24
	gapDown   = 44
	rounds    = 8
)

// layOut places boxes of the given sizes, joined by arrows from earlier to later ones.
func layOut(widths, heights []float64, arrows []arrow) *layout {
	l := &layout{}
	spots := l.makeLayers(widths, heights, arrows)
	for _, a := range arrows {
		l.join(spots[a.from], spots[a.to])
	}
	for _, layer := range l.layers {
		number(layer)
	}
	for i := range rounds {
		l.order(i%2 == 0)
	}
	for i := range rounds {
		l.align(i%2 == 0)
	}
	l.place()
	return l
}

// makeLayers puts each box into the layer right before the first that reads it, or into the last one.
func (l *layout) makeLayers(widths, heights []float64, arrows []arrow) []*spot {
	above := make([]int, len(widths)) // layers from the last
	for i := len(widths) - 1; i >= 0; i-- {
		for _, a := range arrows {
			if a.from == i {
				above[i] = max(above[i], above[a.to]+1)
			}
		}
	}
	if len(above) > 0 {
		l.layers = make([][]*spot, slices.Max(above)+1)
	}
	spots := make([]*spot, len(widths))
	for i := range spots {
		spots[i] = &spot{box: i, layer: len(l.layers) - 1 - above[i], width: widths[i], height: heights[i]}
		l.add(spots[i])
	}
	return spots
}

func (l *layout) add(s *spot) { l.layers[s.layer] = append(l.layers[s.layer], s) }

// join leads an arrow from one box to another, through the layers between.
func (l *layout) join(from, to *spot) {
	path := []*spot{from}
	for at := from; at != to; {
		next := to
		if at.layer+1 < to.layer {
			next = &spot{box: -1, layer: at.layer + 1}
			l.add(next)
		}
		at.down, next.up = append(at.down, next), append(next.up, at)
		path = append(path, next)
		at = next
	}
	l.paths = append(l.paths, path)
}

// order sorts each layer by where the neighbours of its spots in the layer before stand, or in the one behind, so
// that fewer arrows cross.
func (l *layout) order(downward bool) {
	l.sweep(downward, func(layer []*spot, neighbours func(*spot) []*spot) {
		at := map[*spot]float64{}
		for i, s := range layer {
			at[s] = middle(neighbours(s), float64(i))
		}
		slices.SortStableFunc(layer, func(a, b *spot) int { return cmp.Compare(at[a], at[b]) })
		number(layer)
	})
}

// number has the spots of a layer stand in their order.
func number(layer []*spot) {
	for i, s := range layer {
		s.x = float64(i)
	}
}

// align moves each layer's spots towards the middle of their neighbours, as near as they get without overlapping.
func (l *layout) align(downward bool) {
	l.sweep(downward, func(layer []*spot, neighbours func(*spot) []*spot) {
		// Without the widths, to keep the order is all: spots that want to pass each other meet in their mean.
		type group struct {
			sum float64
			n   int
		}
		mean := func(g group) float64 { return g.sum / float64(g.n) }
		var groups []group
		offsets := offsets(layer)
		for i, s := range layer {
			groups = append(groups, group{middle(neighbours(s), s.x) - offsets[i], 1})
			for k := len(groups) - 1; k > 0 && mean(groups[k-1]) > mean(groups[k]); k-- {
				groups[k-1] = group{groups[k-1].sum + groups[k].sum, groups[k-1].n + groups[k].n}
				groups = groups[:k]
			}
		}
		i := 0
		for _, g := range groups {
			for range g.n {
				layer[i].x = mean(g) + offsets[i]
				i++
			}
		}
	})
}

// offsets are the least distances of a layer's middles from that of its first.
func offsets(layer []*spot) []float64 {
	out := make([]float64, len(layer))
	for i := 1; i < len(layer); i++ {
		out[i] = out[i-1] + (layer[i-1].width+layer[i].width)/2 + gapAcross
	}
	return out
}

// sweep calls f for each layer, downward or upward, with the neighbours from where it comes.
func (l *layout) sweep(downward bool, f func(layer []*spot, neighbours func(*spot) []*spot)) {
	for i := range l.layers {
		if downward {
			f(l.layers[i], func(s *spot) []*spot { return s.up })
		} else {
			f(l.layers[len(l.layers)-1-i], func(s *spot) []*spot { return s.down })
		}
	}
}

// middle is the mean place of spots, or other where there are none.
func middle(spots []*spot, other float64) float64 {
	if len(spots) == 0 {
		return other
	}
	sum := 0.0
	for _, s := range spots {
		sum += s.x
	}
	return sum / float64(len(spots))
}

// place moves everything to where it is drawn: no coordinate is below 0.
func (l *layout) place() {
	left, y := math.Inf(1), 0.0
	for _, layer := range l.layers {
		left = min(left, layer[0].x-layer[0].width/2)
	}
	for _, layer := range l.layers {
		for _, s := range layer {
			s.x, s.y = s.x-left, y
			l.width, l.height = max(l.width, s.x+s.width/2), max(l.height, y+s.height)
		}
		for _, s := range layer {
			s.floor = l.height
		}
		y = l.height + gapDown
	}
}
