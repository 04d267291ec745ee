package interpreter

import "ringtrain/export/tfpb"

// constant returns the value of a node's message, which lasts as long as the model.
func (m *Model) constant(p *tfpb.TensorProto) (*Tensor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.constants[p]; t != nil {
		return t, nil
	}
	t, err := FromProto(p, m.left)
	if err != nil {
		return nil, err
	}
	m.left -= Elements(t.Shape) * sizeOf(t.Type)
	m.constants[p], p.TensorContent = t, nil // the bytes were copied
	return t, nil
}
