"""simsched: simulate how a multi-stage GPU service schedules its batches."""
