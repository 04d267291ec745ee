package serving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/ask"
	"ringtrain/ring/phrase"
)

func (h *handler) live(*query) (reply, error) {
	return reply{text: []byte("{\"live\": true}\n")}, nil
}

func (h *handler) ready(*query) (reply, error) {
	if !h.models.Ready() {
		return reply{}, status.Error(codes.Unavailable, "a model has no version yet, or the server ends")
	}
	return reply{text: []byte("{\"ready\": true}\n")}, nil
}

// list answers the names of the models, as KServe's clients want them.
func (h *handler) list(*query) (reply, error) {
	text, err := json.Marshal(map[string][]string{"models": append([]string{}, h.models.Names()...)})
	return reply{text: append(text, '\n')}, err
}

// status answers the states of the versions of a model.
func (h *handler) status(q *query) (reply, error) {
	all, err := modelStatus(h.models, q.model, q.want)
	if err != nil {
		return reply{}, err
	}
	return messages("%s", all)
}

// describeSignatures answers the signatures of a version.
func describeSignatures(v *Version) (reply, error) {
	return messages(`{"model_spec": %s, "metadata": {"signature_def": %s}}`, v.spec(""), signatureDefs(v))
}

// messages answers messages in a form, as JSON with the fields that are zero.
func messages(form string, all ...proto.Message) (reply, error) {
	texts := make([]any, len(all))
	for i, m := range all {
		text, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
		if err != nil {
			return reply{}, err
		}
		texts[i] = text
	}
	var b bytes.Buffer
	err := json.Indent(&b, fmt.Appendf(nil, form+"\n", texts...), "", " ") // the blanks of protojson vary
	return reply{text: b.Bytes()}, err
}

// example answers a request that the model answers.
func example(v *Version) (reply, error) {
	a, err := ask.AboutOf("", v.Name, v.Model) // the request alone
	if err != nil {
		return reply{}, status.Error(codes.FailedPrecondition, err.Error())
	}
	return reply{text: append(a.Request, '\n')}, nil
}

// page answers what there is to ask, for people.
func (h *handler) page(q *query) (reply, error) {
	scheme := "http"
	if q.r.TLS != nil {
		scheme = "https"
	}
	return reply{h.models.Describe(scheme+"://"+phrase.Name(q.r.Host), h.models.Names()...), "text/plain; charset=utf-8"}, nil
}

// Describe returns models of a server at an address: name, versions, features and a line that asks.
func (m *Models) Describe(server string, names ...string) []byte {
	var b bytes.Buffer
	for _, name := range names {
		states, err := m.Status(name, Choice{})
		if err != nil {
			continue // the model is gone
		}
		fmt.Fprintf(&b, "%s\n", phrase.Name(name))
		for _, s := range states {
			fmt.Fprintf(&b, "  version %d  %s", s.Number, s.Phase)
			for _, l := range s.Labels {
				fmt.Fprintf(&b, "  %s", phrase.Name(l))
			}
			if s.Err != nil {
				fmt.Fprintf(&b, "  %s", phrase.Foreign(status.Convert(s.Err).Message(), phrase.MaxText))
			}
			b.WriteByte('\n')
		}
		v, err := m.Acquire(name, Choice{})
		if err != nil {
			continue
		}
		if a, err := ask.AboutOf(server, name, v.Model); err == nil {
			writeAbout(&b, a)
		}
		v.Release()
	}
	return b.Bytes()
}

// writeAbout writes the features and the line for people.
func writeAbout(b *bytes.Buffer, a ask.About) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, c := range a.Columns {
		fmt.Fprintf(t, "  %s\t%s\n", phrase.Name(c.Name), c.Text())
	}
	t.Flush()
	if a.Curl != "" {
		fmt.Fprintf(b, "  %s\n", a.Curl)
	}
}
