package input

// A Shaped data set has a shape of its dense records: height, width and channels of an
// image.
type Shaped interface{ Shape() []int }

// ShapeOf returns the shape of d's records. If d has no shape, it is one axis of
// [Dataset.Features].
func ShapeOf(d Dataset) []int {
	if s, ok := d.(Shaped); ok {
		if shape := s.Shape(); shape != nil {
			return shape
		}
	}
	return []int{d.Features()}
}
