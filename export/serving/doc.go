// Package serving answers the protocols of TensorFlow Serving, REST and gRPC, from exported models.
package serving
