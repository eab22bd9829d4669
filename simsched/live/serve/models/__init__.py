"""What live stages run: real architectures with random weights or a checkpoint's, and a stand-in that sleeps."""
