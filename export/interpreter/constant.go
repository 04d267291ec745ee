package interpreter

import "ringtrain/export/tfpb"

// constant returns the value of a node's message, which lasts as long as the model.
func (s *store) constant(p *tfpb.TensorProto) (*Tensor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.constants[p]; t != nil {
		return t, nil
	}
	t, err := FromProto(p, s.most.constants)
	if err != nil {
		return nil, err
	}
	s.most.constants -= Elements(t.Shape) * sizeOf(t.Type)
	s.constants[p] = t
	return t, nil
}
