"""The agents that come with the product.

`browser_agent` needs a browser that this product does not have; upstream's memory extractor is no
agent that anybody can call.
"""
