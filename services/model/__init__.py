"""The model seam: generators, errors, retries, configurations, token estimates."""
