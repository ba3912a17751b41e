"""What readers of all languages share: the draft of a file, its syntax tree, its flow, and the view that rules have."""
