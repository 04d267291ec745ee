package input

// A Shaped data set knows the shape of its dense records: height, width and channels of an
// image.
type Shaped interface{ Shape() []int }

// ShapeOf returns the shape of d's records: one axis of [Dataset.Features] where the files
// do not say more.
func ShapeOf(d Dataset) []int {
	if s, ok := d.(Shaped); ok {
		if shape := s.Shape(); shape != nil {
			return shape
		}
	}
	return []int{d.Features()}
}
