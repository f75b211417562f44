<?xml version="1.0"?>
<!-- A page's outline, written for what Tidy makes of pages: headings hold no blocks, and an anchor
     around a heading has moved into it; rows stand in the table itself, without tbody; terms and
     items stand in lists. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:h="http://www.w3.org/1999/xhtml"
    xmlns:q="https://quadrille.example/transform#"
    exclude-result-prefixes="h q">

  <xsl:template match="/">
    <rdf:RDF>
      <rdf:Description rdf:about="{q:uri()}">
        <xsl:apply-templates select="//h:h1 | //h:h2 | //h:h3 | //h:dl/h:dt | //h:table/h:caption"/>
      </rdf:Description>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="h:h1 | h:h2 | h:h3">
    <xsl:variable name="heading" select="normalize-space()"/>
    <xsl:if test="$heading">
      <dcterms:tableOfContents><xsl:value-of select="$heading"/></dcterms:tableOfContents>
    </xsl:if>
    <xsl:for-each select=".//h:a[q:resolve(@href)]">
      <dcterms:references rdf:resource="{q:resolve(@href)}"/>
    </xsl:for-each>
  </xsl:template>

  <xsl:template match="h:dt">
    <dc:subject><xsl:value-of select="normalize-space()"/></dc:subject>
  </xsl:template>

  <xsl:template match="h:caption">
    <dcterms:extent>
      <xsl:value-of select="concat(normalize-space(), ': ', count(../h:tr), ' rows')"/>
    </dcterms:extent>
  </xsl:template>
</xsl:stylesheet>
