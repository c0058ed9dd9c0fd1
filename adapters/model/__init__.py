"""The model seam under the real client of a user's agent: its HTTP requests reach the services."""
